"""Wants a winner to touch every other winner."""

FAILS = "test_fastest_interval"
SAYS = "do not touch each other"


def gap(row, framework):
    if row[framework] is None:
        return None
    fastest = max(each[0] for each in row.values() if each is not None)
    return (fastest - row[framework][0]) / fastest


def worst_gap(table, framework):
    gaps = {name: gap(row, framework) for name, row in table.items()}
    measured = [(name, behind) for name, behind in gaps.items() if behind is not None]
    return max(measured, key=lambda pair: pair[1])


def possible_winners(row):
    measured = {name: each for name, each in row.items() if each is not None}
    winners, lowest = [], 0
    for name, (mean, spread) in sorted(measured.items(), key=lambda pair: pair[1], reverse=True):
        if mean + spread >= lowest:
            winners.append(name)
            lowest = max(lowest, mean - spread)
    return sorted(winners)
