"""Modules and parameters in sequences and dicts."""
import operator
from collections import OrderedDict

from ..tensor import Tensor
from .module import Module
from .parameter import Parameter


class Sequential(Module):
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

    def __setitem__(self, index, module):
        setattr(self, list(self._modules)[checked_index(index, len(self))], module)

    def __delitem__(self, index):
        names = list(self._modules)
        doomed = names[index] if isinstance(index, slice) else [names[checked_index(index, len(self))]]
        for name in doomed:
            delattr(self, name)
        renumber(self)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        modules = list(self)
        modules.insert(index, module)
        self._modules.clear()
        return self.extend(modules)

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def __add__(self, other):
        return Sequential(*self, *other)


class ModuleList(Module):
    """A list whose modules are registered; it has no forward."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    __setitem__ = Sequential.__setitem__
    __delitem__ = Sequential.__delitem__
    __len__ = Sequential.__len__
    __iter__ = Sequential.__iter__
    append = Sequential.append
    insert = Sequential.insert
    pop = Sequential.pop

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return list(self._modules.values())[checked_index(index, len(self))]

    def extend(self, modules):
        if not hasattr(modules, "__iter__"):
            raise TypeError("ModuleList.extend should be called with an iterable, but got " + type(modules).__name__)
        for module in modules:
            self.append(module)
        return self

    def __add__(self, other):
        return ModuleList([*self, *other])


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
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        return self._modules.pop(key)

    def update(self, modules):
        pairs = modules.items() if hasattr(modules, "items") else modules
        for name, module in pairs:
            self[name] = module


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

    def append(self, value):
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(f"({i}): {described(value)}" for i, value in enumerate(self))


class ParameterDict(Module):
    """A dict whose tensors are registered as parameters; plain tensors become Parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, key, as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, key)

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        return self._keys.keys()

    def items(self):
        return ((key, self[key]) for key in self._keys)

    def values(self):
        return (self[key] for key in self._keys)

    def update(self, parameters):
        for key, value in (parameters.items() if hasattr(parameters, "items") else parameters):
            self[key] = value

    def extra_repr(self):
        return "\n".join(f"({key}): {described(value)}" for key, value in self.items())


def as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def described(value):
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    size = "x".join(map(str, value.shape))
    return f"{'Parameter' if isinstance(value, Parameter) else 'Tensor'} containing: [{value.dtype} of size {size}]"


def checked_index(index, length):
    """A list position counted from the front. IndexError out of range."""
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length


def renumber(module):
    modules = list(module._modules.values())
    module._modules.clear()
    for i, child in enumerate(modules):
        module._modules[str(i)] = child
