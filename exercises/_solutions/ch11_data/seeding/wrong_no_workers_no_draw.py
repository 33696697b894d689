"""Draws nothing without workers."""

FAILS = "test_draws"
SAYS = "must not depend on the number of workers"


def epoch_seeds(draw, epochs, num_workers, persistent=False):
    seeds = []
    for epoch in range(epochs):
        if persistent and epoch > 0:
            seeds.append([])
            continue
        base = draw() if num_workers else 0
        seeds.append([base + worker for worker in range(num_workers)])
    return seeds


def numpy_words(base_seed, worker_id):
    return [worker_id, base_seed & 4294967295, base_seed >> 32, 0]
