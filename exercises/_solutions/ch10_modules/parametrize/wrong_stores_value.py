"""Stores an assigned value as the original."""

FAILS = "test_assignment"
SAYS = "inverse(value)"


from contextlib import contextmanager
_cache = None


@contextmanager
def cached():
    global _cache
    _cache = {}
    try:
        yield
    finally:
        _cache = None


def register(layer, name, function, inverse=None):
    old = type(layer)
    value = layer.__dict__.pop(name)
    if 'originals' not in layer.__dict__:
        layer.originals = {}
        layer.__class__ = type('Parametrized' + old.__name__, (old,), {})
    layer.originals[name] = value if inverse is None else inverse(value)
    setattr(type(layer), name, computed(name, function, inverse))


def remove(layer, name):
    value = getattr(layer, name)
    delattr(type(layer), name)
    del layer.originals[name]
    layer.__dict__[name] = value
    if not layer.originals:
        del layer.originals
        layer.__class__ = type(layer).__bases__[0]


def computed(name, function, inverse):

    def get(self):
        if _cache is None:
            return function(self.originals[name])
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = function(self.originals[name])
        return _cache[key]

    def put(self, value):
        if inverse is None:
            raise AttributeError(f'{name} is computed')
        self.originals[name] = value
    return property(get, put)
