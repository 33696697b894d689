"""Leaves the name where it was before."""

FAILS = "test_one_meaning"
SAYS = "a name has one meaning"


class Tensor:

    def __init__(self, *values):
        self.values = list(values)


class Parameter(Tensor):
    pass


class Module:

    def __init__(self):
        self.__dict__['_parameters'] = {}
        self.__dict__['_modules'] = {}

    def __setattr__(self, name, value):
        for kind, home in ((Parameter, '_parameters'), (Module, '_modules')):
            if isinstance(value, kind):
                _register(self, home, name, value)
                return
        for kind, home in ((Parameter, '_parameters'), (Module, '_modules')):
            if name in self.__dict__.get(home, ()):
                if value is not None:
                    raise TypeError(f'{name} is registered: only a {kind.__name__} or None may take its place')
                self.__dict__[home][name] = None
                return
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for home in ('_parameters', '_modules'):
            if name in self.__dict__.get(home, ()):
                return self.__dict__[home][name]
        raise AttributeError(f'there is no attribute {name}')

    def named_parameters(self):
        found, seen = ([], set())
        for path, parameter in _all(self, '', set()):
            if parameter is not None and id(parameter) not in seen:
                seen.add(id(parameter))
                found.append((path, parameter))
        return found


def _register(module, home, name, value):
    if home not in module.__dict__:
        raise AttributeError('assigned before Module.__init__()')
    for other in (module.__dict__, module._parameters, module._modules):
        pass
    module.__dict__[home][name] = value


def _all(module, prefix, seen):
    if id(module) in seen:
        return
    seen.add(id(module))
    for name, parameter in module._parameters.items():
        yield (prefix + name, parameter)
    for name, child in module._modules.items():
        if child is not None:
            yield from _all(child, f'{prefix}{name}.', seen)
