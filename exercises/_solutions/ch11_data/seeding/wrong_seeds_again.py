"""Seeds the workers that stay in each epoch."""

FAILS = "test_persistent"
SAYS = "go on where they were"


def epoch_seeds(draw, epochs, num_workers, persistent=False):
    seeds = []
    for epoch in range(epochs):
        if False:
            seeds.append([])
            continue
        base = draw()
        seeds.append([base + worker for worker in range(num_workers)])
    return seeds


def numpy_words(base_seed, worker_id):
    return [worker_id, base_seed & 4294967295, base_seed >> 32, 0]
