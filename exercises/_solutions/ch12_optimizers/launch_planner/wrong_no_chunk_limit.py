"""Forgets the limit of chunks."""

FAILS = "test_chunks"
SAYS = "321"

CHUNK = 65536
MAX_CHUNKS = 320
MAX_TENSORS = (110, 64, 48, 36, 30)
MAX_TENSORS_WITH_NUMBERS = (96, 64, 48, 36, 30)


def launches_of_list(sizes, lists, numbers=False):
    most = (MAX_TENSORS_WITH_NUMBERS if numbers else MAX_TENSORS)[lists - 1]
    launches = tensors = chunks = 0
    for size in sizes:
        left = -(-size // CHUNK)
        tensors += left > 0
        while left:
            taken = left
            left, chunks = (left - taken, chunks + taken)
            if not left and tensors == most:
                launches += 1
                tensors, chunks = (int(left > 0), 0)
    return launches + (chunks > 0)


def launches(tensors, lists, numbers=False):
    groups = {}
    for size, *kind in tensors:
        groups.setdefault(tuple(kind), []).append(size)
    return sum(launches_of_list(sizes, lists, numbers) for sizes in groups.values())


def adam_launches(tensors):
    operations = ((2, False), (1, False), (3, False), (2, False), (1, True), (1, False), (3, True))
    loop = len(operations) * sum((size > 0 for size, *_ in tensors))
    return (loop, sum((launches(tensors, lists, numbers) for lists, numbers in operations)))
