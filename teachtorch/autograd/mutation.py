"""allow_mutation_on_saved_tensors: what backward needs is copied just before it is changed in place.

A saved tensor is packed as a handle. A dispatch mode looks at every in-place call; what is saved of the memory that the
call will change is cloned first, and the handle leads to the clone from then on. Nothing is copied that nobody changes.
"""
import contextlib
import weakref
from collections import defaultdict

from ..dispatch.modes import dispatch_modes
from ..dispatch.nested import tensors_in
from ..tensor import storage_of
from .graph import saved_tensors_hooks


class _Handle:
    """Stands for one saved tensor, at one version."""


class _AllowMutationOnSavedContext:
    """What is saved: `original` {handle: the tensor itself}, `cloned` {handle: its copy}; both forget dead handles."""

    def __init__(self):
        self.original, self.cloned = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.handles = weakref.WeakValueDictionary()             # (id of the tensor, version): handle
        self.of_memory = defaultdict(weakref.WeakSet)            # address of the storage: handles

    def clear(self):
        for kept in (self.original, self.cloned, self.handles, self.of_memory):
            kept.clear()

    def pack(self, t):
        key = id(t), t._version
        handle = self.handles.get(key)
        if handle is None:
            handle = self.handles[key] = _Handle()
            self.original[handle] = t
        self.of_memory[storage_of(t).data_ptr()].add(handle)
        return handle

    def unpack(self, handle):
        if not _open or handle not in self.cloned and handle not in self.original:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                                 "in which the graph was originally recorded.")
        return self.cloned[handle] if handle in self.cloned else self.original[handle]

    def keep_copies(self, t):
        """Before `t` changes: copy what is saved of its memory."""
        for handle in list(self.of_memory.get(storage_of(t).data_ptr(), ())):
            if handle in self.original:
                saved = self.original.pop(handle)
                self.handles.pop((id(saved), saved._version), None)
                self.cloned[handle] = saved.clone()


class _CopyBeforeMutation:
    """The mode: copies, then lets the call go on."""

    def __init__(self, context):
        self.context = context

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        for t in changed_by(func, args):
            self.context.keep_copies(t)
        return func(*args, **(kwargs or {}))


def changed_by(func, args):
    """The tensors that a call changes in place."""
    op = func._op
    if op.info.kind == "custom":
        return tensors_in([a for a, argument in zip(args, op.schema.arguments) if argument.is_mutable])
    return tensors_in(args[:1]) if func.overloadpacket.__name__.endswith("_") else ()


_open = []              # the context that is open, if one is


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """In the block, tensors saved for backward may be changed in place: they are cloned before, and backward, which
    must run in the block too, uses the clones. RuntimeError if such a block is open already."""
    if _open:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    _open.append(context)
    dispatch_modes.push(_CopyBeforeMutation(context))
    try:
        with saved_tensors_hooks(context.pack, context.unpack):
            yield context
    finally:
        dispatch_modes.pop()
        _open.clear()
        context.clear()
