"""`device`: where a tensor lives. What a device type can do, its runtime says (memory/runtime.py)."""
from . import settings

KNOWN_TYPES = ("cpu", "meta", "sim", "cuda")


class device:
    """A device type and, for accelerators, an index: `device("cpu")`, `device("cuda:1")`, `device("cuda", 1)`.

    As a context manager it becomes the default of factory functions. RuntimeError for unknown types.
    """

    __slots__ = ("type", "index", "_outer")

    def __init__(self, type, index=None):
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, int):
            type, index = "cuda", type
        elif not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        if ":" in type:
            type, _, number = type.partition(":")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}:{number}'")
            index = int(number)
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        if type not in KNOWN_TYPES:
            raise RuntimeError(
                f"Expected one of {', '.join(KNOWN_TYPES)} device type at start of device string: {type}"
            )
        self.type, self.index = type, index

    def __repr__(self):
        return f"device(type='{self.type}'" + (f", index={self.index})" if self.index is not None else ")")

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (self.type, self.index)

    def __enter__(self):
        self._outer = settings.default_device
        settings.default_device = self
        return self

    def __exit__(self, *exc):
        settings.default_device = self._outer


CPU, META = device("cpu"), device("meta")
WITH_INDEX = {"sim": device("sim", 0), "cuda": device("cuda", 0)}     # what a type without an index means


def as_device(given):
    """The device meant by `given`: None (the default one), a string, an index or a device."""
    if given is None:
        given = settings.default_device or CPU
    elif given.__class__ is not device:
        given = device(given)
    return given if given.index is not None else WITH_INDEX.get(given.type, given)


def set_default_device(given):
    """Where factory functions put new tensors; None means the CPU."""
    settings.default_device = None if given is None else as_device(given)


def get_default_device():
    """The device of tensors that name none: set_default_device's, or the CPU."""
    return settings.default_device or CPU
