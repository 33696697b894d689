"""Seeds with the worker's number alone."""

FAILS = "test_workers"
SAYS = "the base seed plus"


def epoch_seeds(draw, epochs, num_workers, persistent=False):
    seeds = []
    for epoch in range(epochs):
        if persistent and epoch > 0:
            seeds.append([])
            continue
        base = draw()
        seeds.append([worker for worker in range(num_workers)])
    return seeds


def numpy_words(base_seed, worker_id):
    return [worker_id, base_seed & 4294967295, base_seed >> 32, 0]
