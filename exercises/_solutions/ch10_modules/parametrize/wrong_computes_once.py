"""Computes at registration, and never again."""

FAILS = "test_computed_anew"
SAYS = "at each access"


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
        key = '_' + name
        if key not in self.__dict__:
            self.__dict__[key] = function(self.originals[name])
        return self.__dict__[key]

    def put(self, value):
        if inverse is None:
            raise AttributeError(f'{name} is computed, and has no inverse')
        self.originals[name] = inverse(value)
        self.__dict__.pop('_' + name, None)
    return property(get, put)
