"""Names that PyTorch keeps in its C++ module and that Python code reads there."""
from .dispatch import keys as _keys
from .dispatch.overriding import disabled_torch_function as _disabled_torch_function_impl  # noqa: F401
from .dispatch.state import state as _state
from .dispatch.torch_function import DisableTorchFunction, DisableTorchFunctionSubclass  # noqa: F401
from .ops.generators import Generator  # noqa: F401


class DispatchKeySet:
    """A set of dispatch keys, to look at: `print(torch._C._dispatch_keys(x))`."""

    def __init__(self, key_set):
        self._set = int(key_set)

    def has(self, name):
        """Whether a key of this name is in the set. KeyError if there is no such key."""
        return bool(self._set & _keys.OF_NAME[name])

    def __eq__(self, other):
        return isinstance(other, DispatchKeySet) and self._set == other._set

    def __hash__(self):
        return hash(self._set)

    def __or__(self, other):
        return DispatchKeySet(self._set | other._set)

    def __and__(self, other):
        return DispatchKeySet(self._set & other._set)

    def __sub__(self, other):
        return DispatchKeySet(self._set & ~other._set)

    def __repr__(self):
        return f"DispatchKeySet({_keys.describe(self._set)})"


def _dispatch_keys(t):
    """The keys that a tensor carries. PyTorch has an Autograd key per backend (AutogradCPU); here it is one."""
    return DispatchKeySet(_keys.keys_of(t))


def _dispatch_tls_local_include_set():
    """The keys that this thread adds to every call."""
    return DispatchKeySet(_state.included)


def _dispatch_tls_local_exclude_set():
    """The keys that this thread takes out of every call."""
    return DispatchKeySet(_state.excluded)


class _KeyGuard:
    """A block in which the thread's keys are others."""

    def __init__(self, *names):
        self.keys = sum(_keys.OF_NAME[name] for name in names)

    def __exit__(self, *error):
        _state.included, _state.excluded = self.before


class _IncludeDispatchKeyGuard(_KeyGuard):
    """In the block every call carries these keys."""

    def __enter__(self):
        self.before = _state.included, _state.excluded
        _state.included |= self.keys


class _ExcludeDispatchKeyGuard(_KeyGuard):
    """In the block no call carries these keys."""

    def __enter__(self):
        self.before = _state.included, _state.excluded
        _state.excluded |= self.keys
