"""Takes the base for the first epoch only, and counts on by itself."""

FAILS = "test_generator"
SAYS = "manual_seed must decide"


def epoch_seeds(draw, epochs, num_workers, persistent=False):
    seeds = []
    for epoch in range(epochs):
        if persistent and epoch > 0:
            seeds.append([])
            continue
        base = draw() if epoch == 0 else seeds[0][0] + 50 * epoch if num_workers else draw()
        seeds.append([base + worker for worker in range(num_workers)])
    return seeds


def numpy_words(base_seed, worker_id):
    return [worker_id, base_seed & 4294967295, base_seed >> 32, 0]
