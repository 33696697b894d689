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
        raise NotImplementedError

    def __setattr__(self, name, value):
        """Sort the value by its kind. TypeError and AttributeError as in the rules."""
        raise NotImplementedError

    def __getattr__(self, name):
        """The registered value of that name; AttributeError if there is none."""
        raise NotImplementedError

    def named_parameters(self):
        """Return a list of (path, parameter), such as ("block.weight", parameter).

        A module's own come first, then those of its modules, in the order of assignment. A parameter that has
        several names comes once, under the first; None is left out.
        """
        raise NotImplementedError
