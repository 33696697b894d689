"""Fragmentation: the same requests need more or less memory, by their order; one growing segment needs the least.

All numbers are MiB, and all requests lie between 1 and 20 MiB, so they are for the large pool. Nothing is
freed in between. As the allocator does it:

* a request takes the smallest hole that holds it (a hole is a free block);
* if none does, the device gives a segment: 20 MiB for requests below 10, else the request rounded up to an
  even number of MiB. The segment is a hole then, and the request takes it;
* what is left of the hole is a hole of its own if it is more than 1 MiB; otherwise the whole hole is handed
  out, and the rest is lost as long as the block lives.

The device gives no more than the cap. Memory in holes is reserved, but it is not one piece.
"""


def segment(request):
    """The segment that the device is asked for when no hole holds the request."""
    return 20 if request < 10 else -(-request // 2) * 2


def place(requests):
    """(reserved, holes) after the requests, one by one: the sum of the segments, and the holes, sorted.

    >>> place([6, 6])
    (20, [8])
    """
    # solution
    reserved, holes = 0, []
    for request in requests:
        holding = [hole for hole in holes if hole >= request]
        if holding:
            hole = min(holding)
            holes.remove(hole)
        else:
            hole = segment(request)
            reserved += hole
        if hole - request > 1:
            holes.append(hole - request)
    return reserved, sorted(holes)
    # end of solution


def can_serve(request, reserved, holes, cap):
    """Whether a request can be served: by a hole, or by a segment that the cap has room for."""
    # solution
    return any(hole >= request for hole in holes) or reserved + segment(request) <= cap
    # end of solution


def order_under(requests, cap):
    """The requests, as a list, in an order in which `place` reserves no more than `cap`. ValueError if you find none.

    What is large finds a place while there is room; what is small fits between. (Which order is best is a
    hard question, bin packing; the graders ask for cases in which the simple answer will do.)
    """
    # solution
    order = sorted(requests, reverse=True)
    if place(order)[0] > cap:
        raise ValueError(f"no order found for {requests} under {cap} MiB")
    return order
    # end of solution


def place_expandable(requests):
    """The MiB that one expandable segment has mapped after the requests: whole pages of 20 MiB.

    It has no ends at which something would not fit: each request begins where the one before ends, and the
    segment grows by as many pages as are missing.
    """
    # solution
    return -(-sum(requests) // 20) * 20
    # end of solution
