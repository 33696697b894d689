"""Switching the recording of the graph: no_grad, enable_grad, set_grad_enabled, inference_mode.

Each is a context manager and a decorator, and acts on the current thread alone.
"""
import functools
import threading
import inspect
import warnings

from ..dispatch.keys import AD_INPLACE_OR_VIEW, OF_DEVICE_AND_LAYOUT
from ..dispatch.state import set_grad_mode, state, switch_forward_ad
from ..tensor import NewKeys, Tensor, counter_of, new_keys


def is_grad_enabled():
    """Whether operators of this thread are recorded."""
    return state.grad_enabled


def is_inference_mode_enabled():
    """Whether this thread is in inference_mode."""
    return state.inference


class _SwitchDecorator:
    """Makes a context manager usable as a decorator, generators included."""

    def clone(self):
        """A fresh switch of the same kind."""
        return type(self)()

    def __call__(self, function):
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only "
                "decorate functions or methods. To preserve the current behavior of class decoration, you can "
                "directly decorate the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def switched(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)
        return switched

    def _wrap_generator(self, function):
        """Each resumption runs inside the context, each suspension outside it."""
        @functools.wraps(function)
        def switched(*args, **kwargs):
            generator = function(*args, **kwargs)
            sent = None
            while True:
                with self.clone():
                    try:
                        item = generator.send(sent)
                    except StopIteration as stop:
                        return stop.value
                sent = yield item
        return switched


class _GradSwitch(_SwitchDecorator):
    enabled = None

    def __new__(cls, function=None):
        self = super().__new__(cls)
        return self if function is None else self(function)    # `@no_grad` without parentheses

    def __init__(self, function=None):
        self._before = []

    def __enter__(self):
        self._before.append(state.grad_enabled)
        set_grad_mode(self.enabled)

    def __exit__(self, *exc):
        set_grad_mode(self._before.pop())


class no_grad(_GradSwitch):
    """Do not record: results do not require grad. Version counters still tick. torch.no_grad."""

    enabled = False


class enable_grad(_GradSwitch):
    """Record, inside a no_grad block. torch.enable_grad."""

    enabled = True


class set_grad_enabled(_SwitchDecorator):
    """Record or not, at once and for the `with` block if used as one. torch.set_grad_enabled."""

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError("set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                            f"{type(mode).__name__}")
        self._before = state.grad_enabled
        self.mode = mode
        set_grad_mode(self.mode)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self):
        """A fresh switch of the same kind."""
        return set_grad_enabled(self.mode)

    def __call__(self, function):
        set_grad_mode(self._before)               # as a decorator it acts on the function's calls alone
        return super().__call__(function)

    def __enter__(self):
        set_grad_mode(self.mode)

    def __exit__(self, *exc):
        set_grad_mode(self._before)


class _unsafe_preserve_version_counter(_SwitchDecorator):
    """In the block, in-place changes of the tensor (or tensors) are not counted: at its end their versions are what
    they were, and backward cannot tell that they have changed. Only for changes that no saved tensor minds."""

    def __init__(self, tensors):
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
        self._before = [t._version for t in self.tensors]

    def clone(self):
        """A fresh switch of the same kind."""
        return _unsafe_preserve_version_counter(self.tensors)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        for t, version in zip(self.tensors, self._before):
            counter_of(t).value = version


class inference_mode(_SwitchDecorator):
    """no_grad, and results have neither version counter, view tracking nor tangents; autograd can never use them again.

    inference_mode(False) leaves the mode, and records.
    """

    def __new__(cls, mode=True):
        if callable(mode):
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode=True):
        self.mode = bool(mode)
        self._before = []

    def clone(self):
        """A fresh switch of the same kind."""
        return inference_mode(self.mode)

    def __enter__(self):
        self._before.append((state.grad_enabled, state.inference, state.forward_grad, state.included))
        self._switch(self.mode)
        switch_forward_ad(state.dual_level, not self.mode)
        set_grad_mode(not self.mode)
        if self.mode:
            state.included &= ~AD_INPLACE_OR_VIEW
        else:
            state.included |= AD_INPLACE_OR_VIEW

    def __exit__(self, *exc):
        grad_enabled, inference, forward_grad, included = self._before.pop()
        self._switch(inference)
        switch_forward_ad(state.dual_level, forward_grad)
        state.included = included
        set_grad_mode(grad_enabled)

    @staticmethod
    def _switch(inference):
        """New tensors of this thread carry their backend's key alone, or the usual set."""
        state.inference = inference
        for device_type, backend in OF_DEVICE_AND_LAYOUT.items():
            usual = getattr(NewKeys, device_type)
            setattr(new_keys, device_type, backend if inference else usual)


class _Multithreading(threading.local):
    enabled = True


_multithreading = _Multithreading()


def is_multithreading_enabled():
    """What set_multithreading_enabled set; True at the start."""
    return _multithreading.enabled


class set_multithreading_enabled(_SwitchDecorator):
    """May a backward use several threads? Ours walks the graph in the caller's thread whatever is set here."""

    def __init__(self, mode):
        self.mode = mode
        self._before = _multithreading.enabled
        _multithreading.enabled = mode

    def clone(self):
        """A fresh switch of the same kind."""
        return set_multithreading_enabled(self.mode)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        _multithreading.enabled = self._before
