"""Seeds and the state of the default generator (torch.random)."""
from .ops.generators import (Generator, default_generator, fork_rng, get_rng_state, initial_seed, manual_seed,  # noqa: F401
                         seed, set_rng_state)
