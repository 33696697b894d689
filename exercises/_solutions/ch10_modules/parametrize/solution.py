"""Parametrization: an attribute that is computed from another one.

register(layer, "weight", function, inverse) makes `layer.weight` a computed value:

    layer.originals["weight"]      what is stored, and trained: at first inverse(old weight), or the old weight
    layer.weight                   function(original), computed anew at each access
    layer.weight = value           stores inverse(value) as the original; AttributeError if there is no inverse

A property belongs to a class. So the layer gets a class of its own, a subclass of the one it had, named
"Parametrized" + the old name; other layers of the old class must not notice. `originals` is a dict on the
layer. A layer may have several computed attributes.

Inside `with cached():` each attribute is computed once, at its first access; after the block it is computed
anew again. An assignment inside the block changes the original, and the cached value stays (that is
PyTorch's rule, too).

remove(layer, "weight") leaves the computed value as an ordinary attribute. With the last one goes the
class.
"""

from contextlib import contextmanager

# solution
_cache = None
# end of solution


@contextmanager
def cached():
    """Compute each attribute once inside the block."""
    # solution
    global _cache
    _cache = {}
    try:
        yield
    finally:
        _cache = None
    # end of solution


def register(layer, name, function, inverse=None):
    """Make an attribute of the layer a computed one."""
    # solution
    old = type(layer)
    value = layer.__dict__.pop(name)
    if "originals" not in layer.__dict__:
        layer.originals = {}
        layer.__class__ = type("Parametrized" + old.__name__, (old,), {})
    layer.originals[name] = value if inverse is None else inverse(value)
    setattr(type(layer), name, computed(name, function, inverse))
    # end of solution


def remove(layer, name):
    """Make the attribute an ordinary one again, with the value it has now."""
    # solution
    value = getattr(layer, name)
    delattr(type(layer), name)
    del layer.originals[name]
    layer.__dict__[name] = value
    if not layer.originals:
        del layer.originals
        layer.__class__ = type(layer).__bases__[0]
    # end of solution


# solution
def computed(name, function, inverse):
    """The property."""

    def get(self):
        if _cache is None:
            return function(self.originals[name])
        key = id(self), name
        if key not in _cache:
            _cache[key] = function(self.originals[name])
        return _cache[key]

    def put(self, value):
        if inverse is None:
            raise AttributeError(f"{name} is computed, and has no inverse")
        self.originals[name] = inverse(value)

    return property(get, put)


# end of solution
