"""Grades launch_planner.py."""

from exercises.grading import equal, points


@points(1, "a few small tensors: one launch")
def test_one(yours):
    equal(yours.launches_of_list([10, 20, 30], 3), 1, "three tensors fit into one launch")
    equal(yours.launches_of_list([], 1), 0, "nothing to do")


@points(1, "empty tensors")
def test_empty(yours):
    equal(yours.launches_of_list([0, 0], 1), 0, "they have no chunk")
    equal(yours.launches_of_list([0] * 109 + [5, 5], 1), 1, "they take no place in a launch")


@points(2, "as many tensors as fit")
def test_tensors(yours):
    why = "110 tensors fit into a launch of one list, 30 of five: horizontal fusion is not one launch always"
    equal(yours.launches_of_list([5] * 110, 1), 1, "just full")
    equal(yours.launches_of_list([5] * 111, 1), 2, why)
    equal(
        [yours.launches_of_list([5] * 1000, lists) for lists in range(1, 6)],
        [10, 16, 21, 28, 34],
        why,
        what="launches of 1000 tensors, with 1 to 5 lists",
    )


@points(1, "a number for each tensor takes room, too")
def test_numbers(yours):
    equal(yours.launches_of_list([5] * 96, 1, True), 1, "just full")
    equal(
        yours.launches_of_list([5] * 97, 1, True),
        2,
        "96 tensors with their numbers fit into a launch of one list",
    )
    equal(yours.launches_of_list([5] * 64, 2, True), 1, "with two lists there is room enough")


@points(2, "as many chunks as fit")
def test_chunks(yours):
    equal(yours.launches_of_list([320 * 65536], 1), 1, "just full")
    equal(yours.launches_of_list([320 * 65536 + 1], 1), 2, "one element more is one chunk more: 321")
    equal(
        yours.launches_of_list([200 * 65536] * 2, 1), 2, "400 chunks; the second tensor is cut by the limit"
    )


@points(2, "a tensor that goes on in the next launch")
def test_cut(yours):
    sizes = [321 * 65536] + [5] * 109
    equal(yours.launches_of_list(sizes, 1), 2, "its rest takes a place in the second launch, with 109 others")
    equal(yours.launches_of_list([*sizes, 5], 1), 3, "its rest, 109 and one more are 111 tensors")


@points(1, "devices and dtypes apart")
def test_groups(yours):
    tensors = [(10, "cuda:0", "float32"), (10, "cuda:0", "float16"), (10, "cuda:1", "float32")] * 3
    equal(yours.launches(tensors, 2), 3, "a kernel is compiled for one dtype, and runs on one device")


@points(1, "Adam")
def test_adam(yours):
    one = [(1000, "cuda:0", "float32")]
    equal(
        yours.adam_launches(one * 1000),
        (7000, 105),
        "7 for each tensor, against the sum over the seven operations",
    )
    equal(yours.adam_launches(one * 4), (28, 7), "few tensors: one launch per operation")
