"""Random numbers and the order of samples across a checkpoint.

A loader draws when its iterator starts: a seed for the workers, and the sampler its permutation. To be in
the middle of the same epoch again, a resumed run goes back to the numbers as they were before that, starts
the iterator, leaves out the batches that are done, and then sets the numbers to what they were when the
checkpoint was written.
"""

from ..seed import random_state, set_random_state


class RandomNumbers:
    """The states that checkpoints hold and that a resumed run goes back to."""

    def __init__(self):
        self.start, self.loaded, self._before_validation = None, None, None

    # ---- while training -----------------------------------------------------------------------------------

    def of_epoch(self, loader):
        """All states as an epoch begins."""
        self.start = {"global": random_state(), "generators": generator_states(loader)}
        return self.start

    def before_validation(self):
        """Remember the states: if validation is interrupted, it is run again."""
        self._before_validation = random_state()

    def after_validation(self):
        self._before_validation = None

    # ---- checkpoints --------------------------------------------------------------------------------------

    def state_dict(self, position, loader, fetcher):
        """The states at the epoch's start and now. A validation that is not over counts as not begun."""
        is_cut = self._before_validation is not None and position == "batch"
        now = self._before_validation if is_cut else random_state()
        return {
            "start": self.start,
            "now": now,
            "generators": generator_states(loader),
            "fetcher": fetcher and fetcher.state_dict(),
        }

    def load_state_dict(self, state):
        self.loaded, self.start = state, state["start"]

    def back_to_start(self, loader):
        """To the beginning of the interrupted epoch."""
        set_random_state(self.loaded["start"]["global"])
        set_generator_states(loader, self.loaded["start"]["generators"])

    def back_to_checkpoint(self, loader):
        """To the moment of the checkpoint; the loader's own generators where they were, too."""
        set_random_state(self.loaded["now"])
        set_generator_states(loader, self.loaded["generators"])
        self.loaded = None


def generators_of(loader):
    """The generators that a loader and its samplers draw from, each once."""
    holders = (
        loader,
        getattr(loader, "sampler", None),
        getattr(loader, "batch_sampler", None),
        getattr(getattr(loader, "batch_sampler", None), "sampler", None),
    )
    found = [getattr(one, "generator", None) for one in holders]
    return list({id(one): one for one in found if one is not None}.values())


def generator_states(loader):
    return [generator.get_state() for generator in generators_of(loader)]


def set_generator_states(loader, states):
    for generator, state in zip(generators_of(loader), states):
        generator.set_state(state)
