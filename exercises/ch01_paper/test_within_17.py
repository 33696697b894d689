"""Grades within_17.py."""

from exercises.grading import close, equal, points

ALEXNET = {"MXNet": (1554, 22), "PyTorch": (1547, 316), "TensorFlow": (1422, 27), "CNTK": (845, 8)}
MOBILENET = {"PaddlePaddle": (557, 24), "PyTorch": (463, 17), "MXNet": (444, 2), "CNTK": None}
VGG = {"PyTorch": (119, 1), "MXNet": (113, 1), "PaddlePaddle": (112, 2), "CNTK": (84, 8)}
TABLE = {"AlexNet": ALEXNET, "VGG-19": VGG, "MobileNet": MOBILENET}


def bars(row):
    """The intervals of a row, drawn from 0 to the largest mean plus spread."""
    known = {name: each for name, each in row.items() if each}
    end = max(mean + spread for mean, spread in known.values())
    lines = []
    for name, (mean, spread) in known.items():
        cells = ["."] * 51
        for cell in range(round(50 * (mean - spread) / end), round(50 * (mean + spread) / end) + 1):
            cells[cell] = "-"
        cells[round(50 * mean / end)] = "+"
        lines.append(f"{name.ljust(13)}{''.join(cells)} {mean} +- {spread}")
    return "\n".join(lines)


@points(1, "the gap is a fraction of the fastest")
def test_gap(yours):
    why = "behind by 557 - 463, as a fraction of the fastest: 94 / 557. That is the paper's 17 %"
    close(yours.gap(MOBILENET, "PyTorch"), 94 / 557, why, picture=bars(MOBILENET))
    close(yours.gap({"a": (100, 0), "b": (50, 0)}, "b"), 0.5, "half as fast is 50 % behind")


@points(1, "the fastest has no gap")
def test_fastest(yours):
    equal(yours.gap(VGG, "PyTorch"), 0.0, "it is the fastest")
    equal(yours.gap({"a": (3, 1)}, "a"), 0.0, "it is the only one")


@points(1, "what was not measured has no gap")
def test_missing(yours):
    equal(yours.gap(MOBILENET, "CNTK"), None, "a missing measurement is no measurement of 0")


@points(1, "the worst benchmark")
def test_worst(yours):
    name, behind = yours.worst_gap(TABLE, "PyTorch")
    equal(name, "MobileNet", "463 of 557; on AlexNet it is 1547 of 1554", what="where PyTorch is worst")
    close(behind, 94 / 557, "the gap there", what="PyTorch's worst gap")
    name, behind = yours.worst_gap(TABLE, "CNTK")
    why = "845 of 1554; on VGG-19 it is 84 of 119, and MobileNet says nothing about it"
    equal(name, "AlexNet", why, what="where CNTK is worst")


@points(1, "who may have won: intervals that touch")
def test_touching(yours):
    why = "PyTorch's 1547 +- 316 touches MXNet's 1554 +- 22: nobody can say which is faster"
    equal(yours.possible_winners(ALEXNET), ["MXNet", "PyTorch"], why, picture=bars(ALEXNET))
    why = "no interval reaches 119 - 1: here one framework wins"
    equal(yours.possible_winners(VGG), ["PyTorch"], why, picture=bars(VGG))


@points(1, "both spreads count")
def test_both_spreads(yours):
    row = {"a": (100, 10), "b": (85, 6), "c": (85, 4), "d": None}
    why = "a may be as slow as 90, b as fast as 91, c as fast as 89 only"
    equal(yours.possible_winners(row), ["a", "b"], why, picture=bars(row))
    row = {"a": (100, 10), "b": (85, 5)}
    equal(yours.possible_winners(row), ["a", "b"], "90 and 90: they touch", picture=bars(row))


@points(1, "the fastest one's interval counts for everybody")
def test_fastest_interval(yours):
    row = {"A": (100, 50), "B": (90, 1), "C": (70, 5)}
    why = "A may be as slow as 50, so both reach it, although B and C do not touch each other"
    equal(yours.possible_winners(row), ["A", "B", "C"], why, picture=bars(row))


@points(1, "the winners are sorted by name")
def test_sorted(yours):
    row = {"c": (99, 9), "a": (98, 9), "b": (97, 9)}
    equal(yours.possible_winners(row), ["a", "b", "c"], "sorted, whatever the order of the row")


@points(1, "any table")
def test_any(yours, rng):
    for _ in range(20):
        means = rng.sample(range(10, 100), 4)
        row = {name: (mean, rng.randint(0, 9)) for name, mean in zip(rng.sample("abcd", 4), means)}
        row["e"] = None
        fastest = max(mean for mean, _ in (row[name] for name in "abcd"))
        close(yours.gap(row, "c"), (fastest - row["c"][0]) / fastest, "of the fastest")
        top = max(row[name] for name in "abcd")
        expected = [name for name in "abcd" if sum(row[name]) >= top[0] - top[1]]
        equal(yours.possible_winners(row), expected, "intervals that touch", picture=bars(row))
