"""Grades seeding.py."""

import numpy as np

from exercises.grading import equal, holds, points


class Generator:
    """The loader's generator. drawn: how many base seeds were drawn."""

    def __init__(self, first=1000, step=50):
        self.value, self.step, self.drawn = first - step, step, 0

    def draw(self):
        self.value, self.drawn = self.value + self.step, self.drawn + 1
        return self.value


@points(1, "each worker its own")
def test_workers(yours):
    got = yours.epoch_seeds(Generator().draw, 1, 3)
    equal(got, [[1000, 1001, 1002]], "the base seed plus the worker's number: else all augment alike")


@points(2, "each epoch its own")
def test_epochs(yours):
    got = yours.epoch_seeds(Generator().draw, 3, 2)
    why = "each iterator draws a new base seed: else every epoch has the augmentations of the first"
    equal(got, [[1000, 1001], [1050, 1051], [1100, 1101]], why)


@points(1, "the base seed comes from the loader's generator")
def test_generator(yours, rng):
    first = rng.randrange(2**40)
    got = yours.epoch_seeds(Generator(first, 7).draw, 2, 2)
    equal(
        got, [[first, first + 1], [first + 7, first + 8]], "manual_seed must decide it: draw() gives the base"
    )


@points(1, "one draw per epoch, however many workers")
def test_draws(yours):
    for workers in (0, 1, 4):
        generator = Generator()
        got = yours.epoch_seeds(generator.draw, 3, workers)
        equal(len(got), 3, "a list per epoch", what="the number of lists")
        why = "what is random afterwards must not depend on the number of workers: one draw per iterator"
        equal(generator.drawn, 3, why, what=f"draws of 3 epochs with {workers} workers")


@points(2, "workers that stay are not seeded again")
def test_persistent(yours):
    generator = Generator()
    got = yours.epoch_seeds(generator.draw, 3, 2, True)
    equal(got, [[1000, 1001], [], []], "their generators go on where they were")
    equal(generator.drawn, 1, "one iterator, one base seed", what="draws of 3 epochs with workers that stay")


@points(1, "four words for NumPy")
def test_numpy(yours):
    equal(yours.numpy_words(5, 2), [2, 5, 0, 0], "the worker's number, the low bits, the high bits, 0")
    equal(yours.numpy_words(2**32 + 7, 1), [1, 7, 1, 0], "a base seed of 64 bits makes two words")


@points(1, "NumPy's streams differ, too")
def test_numpy_streams(yours, rng):
    base = rng.randrange(2**62)
    draws = set()
    for seed, worker in ((base, 0), (base, 1), (base + 1, 0), (base ^ (1 << 40), 0)):
        words = yours.numpy_words(seed, worker)
        holds(
            all(0 <= word < 2**32 for word in words),
            "NumPy takes words of 32 bits",
            what=f"the words {words}",
        )
        draws.add(np.random.default_rng(words).integers(2**62))
    why = "worker and all bits of the base seed must count: copies of one stream were PyTorch's issue 5059"
    equal(len(draws), 4, why, what="different streams of four (base seed, worker)")
