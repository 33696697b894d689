"""Modules and parameters in sequences and dicts."""
import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from ..tensor import Tensor
from .module import Module, indented, shown, type_name
from .parameter import Parameter


class ModuleSequence(Module):
    """What Sequential and ModuleList share: children under the names "0", "1", ..."""

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __setitem__(self, index, module):
        setattr(self, list(self._modules)[checked_index(index, len(self))], module)

    def __delitem__(self, index):
        names = list(self._modules)
        doomed = names[index] if isinstance(index, slice) else [names[checked_index(index, len(self))]]
        for name in doomed:
            delattr(self, name)
        self._modules = {str(i): module for i, module in enumerate(self)}

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module):
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Add modules at the end; returns self."""
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key):
        """Remove the module at a position and return it."""
        module = self[key]
        del self[key]
        return module

    def _make_room(self, index, module):
        """Put a module at `index`; the later ones move up by one."""
        for i in range(len(self), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module


class Sequential(ModuleSequence):
    """Calls its modules one after another; takes modules, or one OrderedDict of them."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return list(self._modules.values())[checked_index(index, len(self))]

    def insert(self, index, module):
        """Put a module before position `index`; returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._make_room(index + len(self) if index < 0 else index, module)
        return self

    def __add__(self, other):
        check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other):
        check_sequential(other)
        return self.extend(other)

    def __mul__(self, times):
        self._check_times(times)
        return Sequential(*list(self) * times)

    __rmul__ = __mul__

    def __imul__(self, times):
        self._check_times(times)
        return self.extend(list(self) * (times - 1))

    def _check_times(self, times):
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")


def check_sequential(other):
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")


class ModuleList(ModuleSequence):
    """A list whose modules are registered; it has no forward."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[str(checked_index(index, len(self)))]

    def insert(self, index, module):
        """Put a module before position `index`."""
        self._make_room(index, module)

    def extend(self, modules):
        """Add modules at the end; returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleList.extend should be called with an iterable, but got " + type(modules).__name__)
        return super().extend(modules)

    def __add__(self, other):
        return ModuleList(list(self) + list(other))

    def __iadd__(self, other):
        return self.extend(other)

    def __repr__(self):
        return shown(self._get_name(), [], runs([repr(module) for module in self]))


def runs(texts):
    """"(0): a" for each text; neighbours that are the same as one, "(1-3): 3 x a"."""
    starts = [i for i, text in enumerate(texts) if i == 0 or text != texts[i - 1]]
    lines = []
    for start, end in zip(starts, [*starts[1:], len(texts)]):
        numbers = f"({start})" if end - start == 1 else f"({start}-{end - 1})"
        times = "" if end - start == 1 else f"{end - start} x "
        lines.append(indented(f"{numbers}: {times}{texts[start]}"))
    return lines


class ModuleDict(Module):
    """A dict whose modules are registered."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def keys(self):
        """The names, in the order in which they were added."""
        return self._modules.keys()

    def items(self):
        """(name, value) of all modules."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def clear(self):
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key):
        """Remove a module and return it."""
        module = self[key]
        del self[key]
        return module

    def update(self, modules):
        """Add the modules of a mapping or of (name, module) pairs."""
        for name, module in pairs_of(modules, "ModuleDict", "ModuleDict"):
            self[name] = module


def pairs_of(values, container, start):
    """The (key, value) pairs of a mapping or an iterable of pairs. TypeError or ValueError for anything else."""
    if not isinstance(values, Iterable):
        raise TypeError(f"{start}.update should be called with an iterable of key/value pairs, but got "
                        + type(values).__name__)
    if hasattr(values, "items"):
        return list(values.items())
    pairs = list(values)
    for i, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{container} update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        if len(pair) != 2:
            raise ValueError(f"{container} update sequence element #{i} has length {len(pair)}; 2 is required")
    return pairs


class ParameterList(Module):
    """A list whose tensors are registered as parameters; plain tensors become Parameters."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, str(checked_index(index, self._size)))

    def __setitem__(self, index, value):
        setattr(self, str(checked_index(index, self._size)), as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return (self[i] for i in range(self._size))

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Add a value at the end; returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Add values at the end; returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(f"  ({i}): {described(value, str(getattr(value, 'dtype', '')))}"
                         for i, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict whose tensors are registered as parameters; plain tensors become Parameters. Keys are strings."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return getattr(self, checked_key(key))

    def __setitem__(self, key, value):
        setattr(self, checked_key(key), as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, key)

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        """The names, in the order in which they were added."""
        return self._keys.keys()

    def items(self):
        """(name, value) of all parameters."""
        return ((key, self[key]) for key in self._keys)

    def values(self):
        """The parameters."""
        return (self[key] for key in self._keys)

    def get(self, key, default=None):
        """The value under `key`, or `default`."""
        return self[key] if key in self else default

    def setdefault(self, key, default=None):
        """The value under `key`, which becomes `default` if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def copy(self):
        """A ParameterDict with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def fromkeys(self, keys, default=None):
        """A ParameterDict with the given keys, all `default`."""
        return ParameterDict((key, default) for key in keys)

    def clear(self):
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Remove a value and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Remove the last (key, value) and return it."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def update(self, parameters):
        """Add the values of a mapping (a plain one in the order of its keys) or of (key, value) pairs."""
        pairs = pairs_of(parameters, "ParameterDict", "ParametersDict")
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            pairs = sorted(pairs)
        for key, value in pairs:
            self[key] = value

    def __or__(self, other):
        return self.copy().__ior__(other)

    def __ror__(self, other):
        return other.copy().__ior__(self)

    def __ior__(self, other):
        self.update(other)
        return self

    def extra_repr(self):
        return "\n".join(f"  ({key}): {described(value, type_name(value))}" for key, value in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")


def as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def checked_key(key):
    if not isinstance(key, str):
        raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                        f"'{type(key).__name__}'). Open an issue on github if you need non-string keys.")
    return key


def described(value, kind):
    """A value's line in the printout of its container."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.shape))
    return f"{'Parameter' if isinstance(value, Parameter) else 'Tensor'} containing: [{kind} of size {size}]"


def checked_index(index, length):
    """A list position counted from the front. IndexError out of range."""
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length
