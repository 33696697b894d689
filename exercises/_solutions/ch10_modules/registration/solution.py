"""Registration: how a module knows its parameters.

Nobody hands a module a list of its parameters. `self.weight = Parameter(...)` is enough, because Module has
a `__setattr__` of its own, which looks at what is assigned:

    a Parameter    goes into self._parameters
    a Module       goes into self._modules
    anything else  is an ordinary attribute

What is in the two dicts is no ordinary attribute, so `__getattr__`, which Python asks for names that it
does not find otherwise, looks there. The rules:

1. A name has one meaning: a new value takes it away from wherever it was before.
2. Over a parameter or a module only a Parameter, a Module or None may be assigned; anything else, a plain
   Tensor too, is a TypeError. None keeps the name where it is, with the value None.
3. A Parameter or Module assigned before Module.__init__() ran is an AttributeError.
4. Lists and dicts are ordinary attributes. What is inside them is not looked at.
"""


class Tensor:
    """Some numbers."""

    def __init__(self, *values):
        self.values = list(values)


class Parameter(Tensor):
    """Some numbers that are trained."""


class Module:
    """Keeps Parameters and Modules that are assigned to it apart from other attributes."""

    def __init__(self):
        # solution
        self.__dict__["_parameters"] = {}
        self.__dict__["_modules"] = {}
        # end of solution

    def __setattr__(self, name, value):
        """Sort the value by its kind. TypeError and AttributeError as in the rules."""
        # solution
        for kind, home in ((Parameter, "_parameters"), (Module, "_modules")):
            if isinstance(value, kind):
                _register(self, home, name, value)
                return
        for kind, home in ((Parameter, "_parameters"), (Module, "_modules")):
            if name in self.__dict__.get(home, ()):
                if value is not None:
                    raise TypeError(f"{name} is registered: only a {kind.__name__} or None may take its place")
                self.__dict__[home][name] = None
                return
        object.__setattr__(self, name, value)
        # end of solution

    def __getattr__(self, name):
        """The registered value of that name; AttributeError if there is none."""
        # solution
        for home in ("_parameters", "_modules"):
            if name in self.__dict__.get(home, ()):
                return self.__dict__[home][name]
        raise AttributeError(f"there is no attribute {name}")
        # end of solution

    def named_parameters(self):
        """Return a list of (path, parameter), such as ("block.weight", parameter).

        A module's own come first, then those of its modules, in the order of assignment. A parameter that has
        several names comes once, under the first; None is left out.
        """
        # solution
        found, seen = [], set()
        for path, parameter in _all(self, "", set()):
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                found.append((path, parameter))
        return found
        # end of solution


# solution
def _register(module, home, name, value):
    if home not in module.__dict__:
        raise AttributeError("assigned before Module.__init__()")
    for other in (module.__dict__, module._parameters, module._modules):
        if other is not module.__dict__[home]:
            other.pop(name, None)
    module.__dict__[home][name] = value


def _all(module, prefix, seen):
    if id(module) in seen:
        return
    seen.add(id(module))
    for name, parameter in module._parameters.items():
        yield prefix + name, parameter
    for name, child in module._modules.items():
        if child is not None:
            yield from _all(child, f"{prefix}{name}.", seen)


# end of solution
