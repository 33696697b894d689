"""Within 17 percent: reading a table of measurements.

The paper says that PyTorch is "within 17 %" of the fastest framework on every benchmark of its Table 1. A row
of such a table is a dict: framework -> (mean, spread), where more is better and the spread is the +- of the
mean; a framework that was not measured has None. For AlexNet (images a second):

    {"MXNet": (1554, 22), "PyTorch": (1547, 316), "TensorFlow": (1422, 27), "CNTK": (845, 8)}

Here MXNet is the fastest by its mean. But 1547 +- 316 reaches from 1231 to 1863, and 1554 +- 22 from 1532 to
1576: the two overlap, so the measurement does not say who wins.
"""


def gap(row, framework):
    """Return by which fraction of the fastest one the framework is slower, or None if it was not measured.

    row: a dict as above. framework: one of its keys. The fastest itself has 0.0.
    """
    # solution
    if row[framework] is None:
        return None
    fastest = max(each[0] for each in row.values() if each is not None)
    return (fastest - row[framework][0]) / fastest
    # end of solution


def worst_gap(table, framework):
    """Return (benchmark, gap) of the benchmark where the framework is furthest behind.

    table: a dict, benchmark -> row. Benchmarks where it was not measured say nothing and are left out.
    """
    # solution
    gaps = {name: gap(row, framework) for name, row in table.items()}
    measured = [(name, behind) for name, behind in gaps.items() if behind is not None]
    return max(measured, key=lambda pair: pair[1])
    # end of solution


def possible_winners(row):
    """Return the sorted list of the frameworks whose interval, mean +- spread, touches the fastest one's.

    row: a dict as above. Both spreads count: that of the fastest, and that of the other one.
    """
    # solution
    measured = {name: each for name, each in row.items() if each is not None}
    mean, spread = max(measured.values())
    return sorted(name for name, each in measured.items() if each[0] + each[1] >= mean - spread)
    # end of solution
