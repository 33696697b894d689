"""Grades timeline.py."""

from exercises.grading import equal, points


def drawn(rows):
    """The rows as two strips of time, a letter a unit."""
    if type(rows) is not list or not all(type(row) is tuple and len(row) == 4 for row in rows):
        return ""
    return "\n".join([bars("host  ", rows, 0), bars("device", rows, 2)])


def bars(label, rows, at):
    """One strip: the letter of each row from its begin to its end."""
    cells = ["."] * 40
    for letter, row in zip("ABCDEFGH", rows):
        for time in range(max(row[at], 0), min(row[at + 1], 40)):
            cells[time] = letter
    return f"{label}  {''.join(cells)}"


def same_rows(yours, queue, expected, why):
    """Compare the rows of a queue, with your timeline drawn."""
    rows = yours.timeline(queue)
    equal(rows, expected, why, picture=drawn(rows))


@points(1, "one launch after another")
def test_launches(yours):
    equal(yours.timeline([]), [], "nothing was launched")
    launches = [row[:2] for row in yours.timeline([(2, 1), (3, 1), (1, 1)])]
    equal(
        launches, [(0, 2), (2, 5), (5, 6)], "the host launches one kernel after another", what="the launches"
    )


@points(1, "the host runs ahead")
def test_host_runs_ahead(yours):
    expected = [(0, 2, 2, 12), (2, 4, 12, 22), (4, 6, 22, 32)]
    why = "a launch takes 2, and the host goes on at once: it does not wait for the kernel"
    same_rows(yours, [(2, 10)] * 3, expected, why)


@points(1, "the device waits for the launch")
def test_device_waits(yours):
    expected = [(0, 5, 5, 6), (5, 10, 10, 11)]
    why = "the kernels are short: the device stands idle until the launch is over"
    same_rows(yours, [(5, 1)] * 2, expected, why)
    same_rows(yours, [(2, 5)], [(0, 2, 2, 7)], "the device can begin when the launch is over, at 2")


@points(1, "a synchronization makes the host wait")
def test_synchronize(yours):
    expected = [(0, 2, 2, 12), (12, 14, 14, 24)]
    why = "the host waits at the synchronization, until 12, before it launches the next kernel"
    same_rows(yours, [(2, 10), "synchronize", (2, 10)], expected, why)
    expected = [(0, 5, 5, 6), (6, 11, 11, 12)]
    same_rows(yours, [(5, 1), "synchronize", "synchronize", (5, 1)], expected, "waiting twice costs nothing")


@points(1, "the total time")
def test_total(yours):
    equal(yours.total_time([]), 0, "an empty queue")
    why = "the device cannot begin before the first launch is over: 2, and then 3 kernels of 10"
    equal(yours.total_time([(2, 10)] * 3), 32, why)
    why = "three launches of 5, and then the last kernel: 15 + 1"
    equal(yours.total_time([(5, 1)] * 3), 16, why)


@points(1, "how long the device was idle")
def test_idle(yours):
    equal(yours.device_idle([(2, 10)] * 3), 2, "only before its first kernel")
    equal(yours.device_idle([(5, 1)] * 3), 13, "16 in all, 3 of them busy")
    equal(yours.device_idle([]), 0, "an empty queue")


@points(1, "any queue")
def test_any(yours, rng):
    for _ in range(20):
        queue = [random_item(rng) for _ in range(rng.randint(1, 8))]
        expected = by_hand(queue)
        same_rows(yours, queue, expected, "launch, then wait for the kernel before")
        if expected:
            equal(
                yours.total_time(queue), max(expected[-1][1], expected[-1][3]), "the later of the two clocks"
            )


def random_item(rng):
    """A kernel, or now and then a synchronization."""
    return "synchronize" if rng.random() < 0.2 else (rng.randint(1, 5), rng.randint(1, 5))


def by_hand(queue):
    """The rows, with two clocks."""
    rows, host, device = [], 0, 0
    for item in queue:
        if type(item) is str:
            host = max(host, device)
        else:
            launched = host + item[0]
            begin = max(launched, device)
            rows.append((host, launched, begin, begin + item[1]))
            host, device = launched, begin + item[1]
    return rows
