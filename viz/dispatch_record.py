"""Running one call and noting what the dispatcher did: teachtorch's reports, or what PyTorch's dispatch mode sees."""

import sys
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib import import_module

from viz.engines import LIBRARIES, library_of
from viz.tensors import is_tensor


@dataclass
class Hop:
    """One kernel that ran: its operator, the key set it was chosen from (names, highest first), the key chosen.

    how, where: what ``teachtorch.ops`` says of the kernel. skipped: keys above it without a kernel. goes_on: whether
    the kernel before it handed the same call down.
    """

    op: str
    key: str
    keys: tuple
    depth: int
    how: str = ""
    where: str = ""
    skipped: tuple = ()
    goes_on: bool = False


@dataclass
class Record:
    """hops: in the order in which they began. included, excluded: the thread's keys. error: the call's, or None."""

    library: str
    hops: list = field(default_factory=list)
    included: tuple = ()
    excluded: tuple = ()
    error: Exception | None = None


def library_called(function, arguments):
    """``teachtorch`` or ``torch``: whose tensors the arguments are, else whose function it is; the first if neither."""
    for argument in arguments:
        if is_tensor(argument):
            return library_of(argument).__name__
    home = (getattr(function, "__module__", None) or "").split(".")[0]
    return home if home in LIBRARIES else LIBRARIES[0] if LIBRARIES[0] in sys.modules else LIBRARIES[1]


def run(function, args, kwargs, library):
    """The ``Record`` of ``function(*args, **kwargs)``; an error of the call is kept, not raised."""
    found = Record(library)
    with ExitStack() as stack:
        (_watch if library == "teachtorch" else _watch_torch)(found, stack)
        try:
            function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 (the picture shows how far the call came)
            found.error = error
    if library == "teachtorch":
        _explain(found.hops)
    return found


# teachtorch


def _watch(found, stack):
    from teachtorch.core import observer
    from teachtorch.dispatch.keys import names_in
    from teachtorch.dispatch.state import state

    found.included, found.excluded = names_in(state.included), names_in(state.excluded)
    thread, start = threading.get_ident(), state.depth

    def note(topic, event):
        if threading.get_ident() == thread:
            hop = Hop(event["op"], event["key"], names_in(event["keys"]), event["depth"] - start)
            found.hops.append(hop)

    stack.enter_context(observer.watching(note, "dispatch"))


def _explain(hops):
    """Fill in what the table of operators says of each kernel, and which hop another one made."""
    from teachtorch import ops

    above = []
    for hop in hops:
        del above[hop.depth :]
        hop.how, hop.where = ops[hop.op].served(hop.key, hop.keys) if _is_listed(ops, hop.op) else ("own", "")
        hop.skipped = hop.keys[: hop.keys.index(hop.key)]
        caller = above[-1] if above else None
        hop.goes_on = caller is not None and caller.op == hop.op and caller.key not in hop.keys
        above.append(hop)


def _is_listed(ops, name):
    return any(row.name == name for row in ops)


# PyTorch


def _watch_torch(found, stack):
    """PyTorch tells Python of the operators that arrive under its key Python, below autograd."""
    base = import_module("torch.utils._python_dispatch").TorchDispatchMode

    class Notes(base):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            found.hops.append(Hop(str(func), "Python", ("Python",), 0))
            return func(*args, **(kwargs or {}))

    stack.enter_context(Notes())
