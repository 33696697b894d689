"""Seeds, and the state of all random numbers: what a run must put back to go on as if nothing had been."""

import os
import random
from contextlib import contextmanager

import numpy

from ..random import get_rng_state, manual_seed, set_rng_state

LARGEST = 2**32 - 1


def seed_everything(seed=None, workers=False, verbose=True):
    """Seed teachtorch, NumPy and random; returns the seed. ValueError outside of 0 to 2**32 - 1.

    `seed`: None takes $PL_GLOBAL_SEED, else 0. `workers` changes nothing: the workers of a DataLoader
    derive their seeds from its own, for NumPy and random, too.
    """
    if seed is None:
        seed = int(os.environ.get("PL_GLOBAL_SEED", "0"))
    seed = int(seed)
    if not 0 <= seed <= LARGEST:
        raise ValueError(f"{seed} is not in bounds, numpy accepts from 0 to {LARGEST}")
    if verbose:
        print(f"Seed set to {seed}")
    os.environ["PL_GLOBAL_SEED"] = str(seed)
    random.seed(seed)
    numpy.random.seed(seed)
    manual_seed(seed)
    return seed


def random_state():
    """The states of the three generators, as a checkpoint can hold them."""
    name, keys, position, has_gauss, gauss = numpy.random.get_state()
    return {
        "torch": get_rng_state(),
        "python": random.getstate(),
        "numpy": [name, keys.tolist(), position, has_gauss, gauss],
    }


def set_random_state(state):
    """Put back what random_state gave."""
    set_rng_state(state["torch"])
    version, internal, gauss = state["python"]
    random.setstate((version, tuple(internal), gauss))
    name, keys, *rest = state["numpy"]
    numpy.random.set_state((name, numpy.array(keys, numpy.uint32), *rest))


@contextmanager
def isolated_random():
    """Random numbers drawn inside the block are drawn again outside of it."""
    state = random_state()
    try:
        yield
    finally:
        set_random_state(state)
