"""Takes all that is reserved, and not used, for one piece."""

FAILS = "test_holes_are_not_one_piece"
SAYS = "one piece"



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
    return sum(holes) >= request or reserved + segment(request) <= cap


def order_under(requests, cap):
    order = sorted(requests, reverse=True)
    if place(order)[0] > cap:
        raise ValueError(f"no order found for {requests} under {cap} MiB")
    return order


def place_expandable(requests):
    return -(-sum(requests) // 20) * 20
