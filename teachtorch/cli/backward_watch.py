"""Remembering the graph of the last backward (or autograd.grad) of a script that knows nothing of it."""

import functools
import importlib.abc
import importlib.util
import sys
import time

# Taking a picture before every backward may cost this much: some seconds, and a share of the run.
FREE_SECONDS = 2.0
SHARE_OF_THE_RUN = 0.25


class BackwardWatch:
    """Takes a picture of the graph just before each backward, while the saved tensors are still there.

    Large graphs in long loops would take too long: past a budget only the roots are kept, and the picture
    is taken at the end, when backward has freed what it had saved.

    Args:
        take_picture: called with the list of roots and the variables (a dict by name) of the function that
            called backward; its result is what `last_picture` returns.
        clock: seconds as a float, for the budget.
    """

    def __init__(self, take_picture, clock=time.perf_counter):
        self._take_picture = take_picture
        self._clock = clock
        self._started = clock()
        self._spent = 0.0
        self._inside = False
        self._picture = None
        self._not_yet_drawn = None  # roots and variables

    def last_picture(self):
        """The picture of the last backward's graph; None if there was no backward."""
        if self._not_yet_drawn is not None:
            self._picture = self._take_picture(*self._not_yet_drawn)
            self._not_yet_drawn = None
        return self._picture

    def wrap(self, backward):
        """Return `backward` with the watch in front; its first argument is the root or a list of roots."""

        @functools.wraps(backward)
        def watched(tensors, *args, **kwargs):
            if self._inside:  # Tensor.backward calls autograd.backward: one backward, seen once
                return backward(tensors, *args, **kwargs)
            self._before(tensors, sys._getframe(1))
            self._inside = True
            try:
                return backward(tensors, *args, **kwargs)
            finally:
                self._inside = False

        return watched

    def _before(self, tensors, caller):
        roots = [root for root in as_list(tensors) if getattr(root, "requires_grad", False)]
        if not roots:
            return  # backward will complain
        self._not_yet_drawn = (roots, variables_of(caller))
        if self._within_budget():
            self._draw_now()

    def _draw_now(self):
        begin = self._clock()
        try:
            self.last_picture()
        except Exception:
            # The script must run as if nobody watched: last_picture tries again at the end, and reports.
            self._picture = None
        self._spent += self._clock() - begin

    def _within_budget(self):
        return self._spent < FREE_SECONDS + SHARE_OF_THE_RUN * (self._clock() - self._started)


def as_list(tensors):
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]


def variables_of(frame):
    """What the code running in `frame` calls things, by name."""
    return public({**frame.f_globals, **frame.f_locals})


def public(variables):
    return {name: value for name, value in variables.items() if not name.startswith("_")}


def watch_library(library, watch):
    """Put the watch before the three ways into the engine of teachtorch or torch."""
    library.autograd.backward = watch.wrap(library.autograd.backward)
    library.autograd.grad = watch.wrap(library.autograd.grad)
    library.Tensor.backward = watch.wrap(library.Tensor.backward)


def when_imported(name, act):
    """Call `act(module)` as soon as the module `name` is imported; now, if it already is."""
    if name in sys.modules:
        act(sys.modules[name])
    else:
        sys.meta_path.insert(0, _ImportNotice(name, act))


class _ImportNotice(importlib.abc.MetaPathFinder):
    """Finds its one module by the usual ways, and acts once that module has run."""

    def __init__(self, name, act):
        self.name = name
        self.act = act

    def find_spec(self, fullname, path, target=None):
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None:
            self._act_after(spec.loader)
        return spec

    def _act_after(self, loader):
        execute = loader.exec_module

        def execute_and_act(module):
            execute(module)
            self.act(module)

        loader.exec_module = execute_and_act
