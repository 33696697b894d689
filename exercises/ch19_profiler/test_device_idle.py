"""Grades device_idle.py."""

from exercises.grading import equal, points


@points(1, "a kernel begins when it has been launched")
def test_launch(yours):
    equal(yours.kernels([(2, 5)]), [(2, 7)], "the host needs 2 to launch it, then it runs for 5")


@points(1, "kernels of a stream run one after the other")
def test_queue(yours):
    equal(yours.kernels([(1, 5), (1, 5)]), [(1, 6), (6, 11)], "launched at 2, but the kernel before it ends at 6")


@points(1, "a stream that has nothing to do waits for the host")
def test_gap(yours):
    equal(yours.kernels([(3, 1), (3, 1)]), [(3, 4), (6, 7)], "the first ends at 4, the second is launched at 6")


@points(1, "idle is what lies between kernels")
def test_idle(yours):
    equal(yours.idle([(3, 1), (3, 1), (3, 1)]), 4, "two gaps of 2; the time before the first kernel does not count")
    equal(yours.idle([(1, 5), (1, 5)]), 0, "the second was there before the first had ended")


@points(1, "the host waits for what is left")
def test_wait(yours):
    equal(yours.wait_at_the_end([(1, 5), (1, 5)]), 9, "launched until 2, worked until 11")


@points(1, "the sum of launches and kernels is not the time of a run")
def test_overlap(yours, rng):
    count, kernel = rng.randint(3, 6), rng.randint(4, 9)
    launches = [(1, kernel)] * count
    why = f"{count} launches of 1 while kernels of {kernel} run: the host is done early, and waits for the rest"
    equal(yours.wait_at_the_end(launches), 1 + count * kernel - count, why)


@points(1, "who holds up whom")
def test_bottleneck(yours):
    equal(yours.bottleneck([(3, 1)] * 4), "host", "kernels are shorter than launches: the device runs dry")
    equal(yours.bottleneck([(1, 5)] * 4), "device", "there is always a kernel waiting in the stream")
    equal(yours.bottleneck([(9, 1)]), "device", "a single kernel: the device never stood still in between")
