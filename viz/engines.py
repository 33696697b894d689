"""What a picture asks of the library a tensor comes from: to run a backward, to add without a graph."""

import sys

LIBRARIES = ("teachtorch", "torch")


def library_of(tensor):
    """The imported module ``teachtorch`` or ``torch`` whose tensor this is; TypeError for another's."""
    for cls in type(tensor).__mro__:
        name = cls.__module__.split(".")[0]
        if name in LIBRARIES:
            return sys.modules[name]
    raise TypeError(f"{type(tensor).__name__} is a tensor of neither {' nor '.join(LIBRARIES)}")


def observer_of(library):
    """teachtorch's observer, or None for a library that has none."""
    return sys.modules.get(f"{library.__name__}.core.observer")


def second_backward_sentence(library):
    """What the library says of a second backward(): asked of the library itself, with a graph of one node."""
    with library.enable_grad():
        x = library.ones(1, requires_grad=True)
        y = x * x
    y.backward()
    try:
        y.backward()
    except RuntimeError as error:
        return str(error)
    return ""


def runs_copy_slices_once(library):
    """Whether CopySlices, which saves no tensor itself, cannot run again: asked of the library itself."""
    with library.enable_grad():
        y = library.ones(2, requires_grad=True) + 0
        y[:1].neg_()
        total = y.sum()
    total.backward()
    try:
        total.backward()
    except RuntimeError:
        return True
    return False


def gradient_node(tensor):
    """The AccumulateGrad node of a leaf."""
    return library_of(tensor).autograd.graph.get_gradient_edge(tensor)[0]
