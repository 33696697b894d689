"""Drops the upper half of the base seed."""

FAILS = "test_numpy"
SAYS = "two words"


def epoch_seeds(draw, epochs, num_workers, persistent=False):
    seeds = []
    for epoch in range(epochs):
        if persistent and epoch > 0:
            seeds.append([])
            continue
        base = draw()
        seeds.append([base + worker for worker in range(num_workers)])
    return seeds


def numpy_words(base_seed, worker_id):
    return [worker_id, base_seed & 4294967295, 0, 0]
