"""Puts the small requests first."""

FAILS = "test_order"
SAYS = "what is small came first"



def segment(request):
    return 20 if request < 10 else -(-request // 2) * 2


def place(requests):
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


def can_serve(request, reserved, holes, cap):
    return any(hole >= request for hole in holes) or reserved + segment(request) <= cap


def order_under(requests, cap):
    if place(sorted(requests, reverse=True))[0] > cap:
        raise ValueError(f"no order found for {requests} under {cap} MiB")
    return sorted(requests)


def place_expandable(requests):
    return -(-sum(requests) // 20) * 20
