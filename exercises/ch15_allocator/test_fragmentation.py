"""Grades fragmentation.py."""

from exercises.grading import equal, points, raises


def reference(requests):
    """What `place` should answer: written without a list of holes that is searched."""
    reserved, holes = 0, []
    for request in requests:
        holes.sort()
        place = next((i for i, hole in enumerate(holes) if hole >= request), None)
        size = holes.pop(place) if place is not None else 20 if request < 10 else -(-request // 2) * 2
        reserved += 0 if place is not None else size
        holes += [size - request] if size - request > 1 else []
    return reserved, sorted(holes)


@points(1, "two requests in one segment")
def test_first(yours):
    equal(yours.place([6, 6]), (20, [8]), "6 and 6 out of the segment of 20 that the first one opens")
    equal(yours.place([6, 15, 3]), (36, [11]), "15 fits into no hole and opens a segment of 16; 3 goes into the hole")


@points(1, "the smallest hole that holds it")
def test_best_fit(yours):
    why = "there are holes of 8 and of 2: the smallest that holds 2 is the second one"
    equal(yours.place([6, 6, 9, 9, 2]), (40, [8]), why)


@points(1, "a rest of at most 1 MiB is no hole")
def test_one_mib(yours):
    equal(yours.place([6, 13]), (20, []), "the rest of 1 MiB is not more than 1 MiB: it is handed out with the block")
    equal(yours.place([6, 12.5]), (20, [1.5]), "1.5 MiB are more than 1 MiB")


@points(1, "any requests")
def test_any(yours, rng):
    for _ in range(20):
        requests = [rng.randint(2, 19) for _ in range(rng.randint(1, 8))]
        equal(yours.place(requests), reference(requests), f"place({requests}), by the three rules one after the other")


@points(1, "holes are not one piece")
def test_holes_are_not_one_piece(yours):
    why = "14 MiB are free, but not in one piece, and the cap has no room for another segment"
    equal(yours.can_serve(8, 40, [4, 4, 6], 40), False, why)
    equal(yours.can_serve(6, 40, [4, 4, 6], 40), True, "the hole of 6 holds it, at the cap too")


@points(1, "the cap counts segments")
def test_cap(yours):
    equal(yours.can_serve(5, 40, [3], 50), False, "5 MiB open a segment of 20, and 60 are more than the cap of 50")
    equal(yours.can_serve(11, 20, [], 32), True, "11 open a segment of 12, and 32 is the cap")


@points(2, "an order that fits")
def test_order(yours):
    for requests, cap in (([2, 9, 2, 9, 9, 9], 40), ([3, 5, 9, 8, 5, 8], 40), ([7, 2, 7, 7, 9, 5], 40)):
        order = yours.order_under(list(requests), cap)
        equal(sorted(order), sorted(requests), f"the same requests, in another order than {requests}")
        why = f"{order} needs {reference(order)[0]} MiB: what is small came first, and what is large found no place"
        equal(reference(order)[0] <= cap, True, why)
    raises(ValueError, yours.order_under, [9, 9, 9], 20, why="27 MiB do not fit under 20, whatever the order")


@points(1, "one segment that grows")
def test_expandable(yours):
    why = "each begins where the one before ends: 40 MiB in two pages"
    equal(yours.place_expandable([2, 9, 2, 9, 9, 9]), 40, why)
    equal(yours.place_expandable([13, 13, 13]), 40, "39 MiB in two pages; ordinary segments take three times 14")
    equal(yours.place_expandable([]), 0, "nothing was asked for")
