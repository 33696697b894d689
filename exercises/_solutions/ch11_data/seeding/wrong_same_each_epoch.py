"""Draws once for all epochs."""

FAILS = "test_epochs"
SAYS = "augmentations of the first"


def epoch_seeds(draw, epochs, num_workers, persistent=False):
    seeds = []
    base = draw()
    for epoch in range(epochs):
        if persistent and epoch > 0:
            seeds.append([])
            continue
        seeds.append([base + worker for worker in range(num_workers)])
    return seeds


def numpy_words(base_seed, worker_id):
    return [worker_id, base_seed & 4294967295, base_seed >> 32, 0]
