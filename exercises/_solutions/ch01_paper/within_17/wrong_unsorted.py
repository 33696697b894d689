"""Leaves the winners in the order of the row."""

FAILS = "test_sorted"
SAYS = "whatever the order of the row"


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
    mean, spread = max(measured.values())
    return [name for name, each in measured.items() if each[0] + each[1] >= mean - spread]
