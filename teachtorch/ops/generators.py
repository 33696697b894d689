"""Generators and seeds: whose numbers come next, on the CPU and on accelerators."""

import contextlib
import functools
import secrets

import numpy as np

from ..core import dtype as dt
from ..core.device import as_device
from ..kernels import random as streams
from ..memory.runtime import is_there
from ..tensor import Tensor, array_of, from_array
from .declare import publish


class Generator:
    """A random number generator (torch.Generator): equal seeds give equal numbers, on the CPU PyTorch's own.

    `stream`: the kernel's generator, made anew unless given.
    """

    def __init__(self, device="cpu", *, stream=None):
        self.device = as_device(device)
        if self.device.type == "meta" or self.device.type == "cuda" and not is_there("cuda"):
            raise RuntimeError(f"{self.device.type.upper()} device type not an accelerator.")
        make = streams.Generator if self.device.type == "cpu" else LaunchSeeds
        self._stream = make() if stream is None else stream

    def manual_seed(self, seed):
        """Restart from a seed, and return the generator."""
        if isinstance(seed, str):
            raise RuntimeError("manual_seed expected a long, but got str")
        self._stream.manual_seed(int(seed))
        return self

    def seed(self):
        """Restart from a seed of the operating system's randomness, and return that seed."""
        return self._stream.seed()

    def initial_seed(self):
        """The seed that the stream was started from."""
        return self._stream.initial_seed()

    def get_state(self):
        """The state as a uint8 tensor, which set_state (here or in PyTorch) continues from."""
        return from_array(self._stream.get_state())

    def set_state(self, new_state):
        """Continue from a state. TypeError unless a uint8 tensor; RuntimeError if it cannot be a state."""
        self._stream.set_state(state_array(new_state))
        return self

    def clone_state(self):
        """A generator of its own with the same state."""
        return restored_generator(self.get_state(), self.device)

    def __reduce__(self):
        return restored_generator, (self.get_state(), self.device)


def restored_generator(state, device="cpu"):
    return Generator(device).set_state(state)


def state_array(state):
    if not isinstance(state, Tensor) or state._dtype is not dt.uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    return array_of(state)


class LaunchSeeds:
    """The state of an accelerator's generator: a seed, and how many launches have drawn.

    The host hands each launch a generator of its own, made of both, so that the numbers do not depend on when kernels
    run. CUDA's Philox generator works so too (seed and offset); the numbers are not CUDA's.
    """

    def __init__(self):
        self.manual_seed(streams.DEFAULT_SEED)

    def manual_seed(self, seed):
        self._seed, self.offset = seed, 0

    def seed(self):
        self.manual_seed(secrets.randbits(53))
        return self._seed

    def initial_seed(self):
        return self._seed

    def for_launch(self):
        """The generator of the next launch that draws."""
        self.offset += 1
        mixed = np.random.SeedSequence([self._seed % 2**64, self.offset]).generate_state(1, np.uint64)
        return streams.Generator(int(mixed[0]))

    def get_state(self):
        """Seed and offset, as 16 bytes, as of a CUDA generator."""
        return np.array([self._seed % 2**64, self.offset], np.uint64).view(np.uint8)

    def set_state(self, state):
        if state.size != 16:
            raise RuntimeError("RNG state is wrong size")
        self._seed, self.offset = [int(n) for n in np.ascontiguousarray(state).view(np.uint64)]


default_generator = Generator(stream=streams.default_generator)
sim_generator = Generator("sim")
sim_generator.seed()


@functools.lru_cache(maxsize=None)
def cuda_generator():
    """The default generator of the GPU, seeded when it is first asked for."""
    generator = Generator("cuda")
    generator.manual_seed(sim_generator.initial_seed())
    return generator


def stream_of(generator):
    """The stream to draw from, on the CPU."""
    if generator is None:
        return streams.default_generator
    if generator.device.type != "cpu":
        raise RuntimeError(f"Expected a 'cpu' device type for generator but found '{generator.device.type}'")
    return generator._stream


def generator_of_launch(generator, device):
    """The generator for one launch on an accelerator, which the host takes from `generator` (None: the default one)."""
    return Generator(stream=seeds_of(generator, device).for_launch())


def launch_of(generator, device):
    """(seed, number of the launch) for a kernel that makes its own numbers of both; the next launch has another."""
    seeds = seeds_of(generator, device)
    seeds.offset += 1
    return seeds.initial_seed() % 2**64, seeds.offset


def seeds_of(generator, device):
    """The LaunchSeeds of an accelerator's generator (None: the default one). RuntimeError for another device's."""
    if generator is None:
        generator = sim_generator if device.type == "sim" else cuda_generator()
    if generator.device.type != device.type:
        raise RuntimeError(f"Expected a '{device.type}' device type for generator but found '{generator.device.type}'")
    return generator._stream


def manual_seed(seed):
    """Seed the default generators of all devices, and return the CPU's."""
    sim_generator.manual_seed(int(seed))
    if is_there("cuda"):
        cuda_generator().manual_seed(int(seed))
    return default_generator.manual_seed(seed)


def seed():
    """Seed the default generators from the operating system, and return that seed."""
    found = default_generator.seed()
    sim_generator.manual_seed(found)
    return found


def initial_seed():
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state():
    """The default generator's state, a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Continue the default generator from a state."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
    """Put the default generator's state back at the end of the block."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)


for _function in (manual_seed, seed, initial_seed, get_rng_state, set_rng_state):
    publish(_function.__name__, _function, ("",))
publish("Generator", Generator, ("",))
publish("default_generator", default_generator, ("",))
