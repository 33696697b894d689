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



@contextmanager
def cached():
    """Compute each attribute once inside the block."""
    raise NotImplementedError


def register(layer, name, function, inverse=None):
    """Make an attribute of the layer a computed one."""
    raise NotImplementedError


def remove(layer, name):
    """Make the attribute an ordinary one again, with the value it has now."""
    raise NotImplementedError
