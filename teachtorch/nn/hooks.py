"""Calling a module: its forward, and the hooks around it.

    global pre-hooks -> own pre-hooks -> forward -> global hooks -> own hooks

`prepend` puts a hook before those already there. Hooks of all modules ("global") are for debugging and profiling.
https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook
"""
import threading
import warnings
from collections import OrderedDict
from contextlib import contextmanager

from ..core.hooks import RemovableHandle
from ..tensor import Tensor
from .backward_hooks import BackwardHooks

MIXED_BACKWARD_HOOKS = ("Cannot use both regular backward hooks and full backward hooks on a single Module. Please "
                        "use only one of them.")
MIXED_GLOBAL_HOOKS = ("Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
                      "Please use only one of them.")


class GlobalHooks:
    """The hooks of all modules: ordered dicts from the handle's id to the hook."""

    def __init__(self):
        self.pre, self.forward = OrderedDict(), OrderedDict()
        self.backward_pre, self.backward = OrderedDict(), OrderedDict()
        self.with_kwargs, self.always_called = {}, {}       # of the forward hooks
        self.backward_is_full = None                        # None until the first one is registered
        self.parameter_registration, self.buffer_registration = OrderedDict(), OrderedDict()
        self.module_registration = OrderedDict()


everywhere = GlobalHooks()
_pre, _forward = everywhere.pre, everywhere.forward
_backward_pre, _backward = everywhere.backward_pre, everywhere.backward
_replacing = []                      # one entry for each block of `replacing_forward` that is open, in any thread


class Replacement(threading.local):
    """`find(module)`: what this thread calls instead of the forward of the outermost modules; None: nothing."""

    find = None


replacement = Replacement()


@contextmanager
def replacing_forward(find):
    """A block in which outermost modules, called in this thread, call `find(module)` instead of their forward."""
    before, replacement.find = replacement.find, find
    _replacing.append(find)
    try:
        yield
    finally:
        replacement.find = before
        _replacing.remove(find)


def forward_of(module):
    """What a call of a module calls between its hooks."""
    find = replacement.find
    return module.forward if find is None else outermost(find, find(module))


def outermost(find, forward):
    """`forward`, with the modules that it calls left as they are."""
    def run(*args, **kwargs):
        replacement.find = None
        try:
            return forward(*args, **kwargs)
        finally:
            replacement.find = find
    return run


def register_module_forward_pre_hook(hook):
    """Call hook(module, args) before the forward of every module."""
    return RemovableHandle.add(_pre, hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call hook(module, args, output) after the forward of every module."""
    handle = RemovableHandle.add(_forward, hook, marks=(everywhere.with_kwargs, everywhere.always_called))
    note(handle, everywhere.with_kwargs, with_kwargs)
    note(handle, everywhere.always_called, always_call)
    return handle


def register_module_full_backward_pre_hook(hook):
    """Call hook(module, grad_output) before the backward of every module."""
    return RemovableHandle.add(_backward_pre, hook)


def register_module_full_backward_hook(hook):
    """Call hook(module, grad_input, grad_output) for every module, once the gradients of its inputs are there."""
    if everywhere.backward_is_full is False:
        raise RuntimeError(MIXED_GLOBAL_HOOKS)
    everywhere.backward_is_full = True
    return RemovableHandle.add(_backward, hook)


def register_module_backward_hook(hook):
    """Deprecated: the hook sees the last node of each module's forward alone."""
    if everywhere.backward_is_full is True:
        raise RuntimeError(MIXED_GLOBAL_HOOKS)
    everywhere.backward_is_full = False
    return RemovableHandle.add(_backward, hook)


def register_module_parameter_registration_hook(hook):
    """Call hook(module, name, parameter) before any module registers a parameter; what it returns is registered."""
    return RemovableHandle.add(everywhere.parameter_registration, hook)


def register_module_buffer_registration_hook(hook):
    """Call hook(module, name, buffer) before any module registers a buffer; what it returns is registered."""
    return RemovableHandle.add(everywhere.buffer_registration, hook)


def register_module_module_registration_hook(hook):
    """Call hook(module, name, submodule) before any module registers a child; what it returns is registered."""
    return RemovableHandle.add(everywhere.module_registration, hook)


def note(handle, marks, wanted):
    if wanted:
        marks[handle.id] = True


class HookedCall:
    """The part of Module that calls it."""

    def __call__(self, *args, **kwargs):
        if not (self._backward_hooks or self._backward_pre_hooks or self._forward_hooks or self._forward_pre_hooks
                or _forward or _pre or _backward or _backward_pre or _replacing):
            return self.forward(*args, **kwargs)
        return HookedRun(self, args, kwargs).run()

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call hook(module, args) before forward; what it returns replaces the arguments.

        `with_kwargs`: hook(module, args, kwargs), which may return (args, kwargs).
        """
        handle = RemovableHandle.add(self._forward_pre_hooks, hook, prepend, (self._forward_pre_hooks_with_kwargs,))
        note(handle, self._forward_pre_hooks_with_kwargs, with_kwargs)
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call hook(module, args, output) after forward; what it returns replaces the output.

        `with_kwargs`: hook(module, args, kwargs, output). `always_call`: also when forward raised.
        """
        marks = self._forward_hooks_with_kwargs, self._forward_hooks_always_called
        handle = RemovableHandle.add(self._forward_hooks, hook, prepend, marks)
        note(handle, self._forward_hooks_with_kwargs, with_kwargs)
        note(handle, self._forward_hooks_always_called, always_call)
        return handle

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call hook(module, grad_output) before the module's backward; a tuple it returns replaces grad_output."""
        return RemovableHandle.add(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call hook(module, grad_input, grad_output) once the gradients of the inputs are there.

        A tuple it returns replaces grad_input. If no input requires grad, the hook is called with None for each as
        soon as grad_output is there.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(MIXED_BACKWARD_HOOKS)
        self._is_full_backward_hook = True
        return RemovableHandle.add(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook):
        """Deprecated: the hook sees the last node of the forward alone. Use register_full_backward_hook."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(MIXED_BACKWARD_HOOKS)
        self._is_full_backward_hook = False
        return RemovableHandle.add(self._backward_hooks, hook)

    def _hooks_of_kind(self, full):
        """The backward hooks that are full ones, or the deprecated ones."""
        shared = _backward.values() if everywhere.backward_is_full is full else ()
        own = self._backward_hooks.values() if self._is_full_backward_hook is full else ()
        return [*shared, *own]


class HookedRun:
    """One call of a module that has hooks."""

    def __init__(self, module, args, kwargs):
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result = None
        self.called = set()                                 # ids of the forward hooks that were called

    def run(self):
        try:
            return self._run()
        except Exception:
            self._call_always_called()
            raise

    def _run(self):
        module = self.module
        self._call_pre_hooks()
        watch = self._backward_hooks()
        if watch is not None:
            self.args = watch.watch_inputs(self.args)
        self.result = forward_of(module)(*self.args, **self.kwargs)
        for key, hook in (*_forward.items(), *module._forward_hooks.items()):
            self._call_forward_hook(key, hook)
        if watch is not None:
            self.result = watch.watch_outputs(self.result)
        self._attach_old_hooks(module._hooks_of_kind(full=False))
        return self.result

    def _backward_hooks(self):
        hooks = self.module._hooks_of_kind(full=True)
        pre_hooks = [*_backward_pre.values(), *self.module._backward_pre_hooks.values()]
        return BackwardHooks(self.module, hooks, pre_hooks) if hooks or pre_hooks else None

    def _call_pre_hooks(self):
        module = self.module
        for key, hook in (*_pre.items(), *module._forward_pre_hooks.items()):
            if key in module._forward_pre_hooks_with_kwargs:
                self._take_arguments(hook(module, self.args, self.kwargs))
            else:
                changed = hook(module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)

    def _take_arguments(self, changed):
        if changed is None:
            return
        if not (isinstance(changed, tuple) and len(changed) == 2):
            raise RuntimeError("forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                               f"{changed}.")
        self.args, self.kwargs = changed

    def _call_forward_hook(self, key, hook):
        """The hook with the arguments it wants; what it returns is the new result."""
        module = self.module
        self.called.add(key)
        if key in module._forward_hooks_with_kwargs or key in everywhere.with_kwargs:
            changed = hook(module, self.args, self.kwargs, self.result)
        else:
            changed = hook(module, self.args, self.result)
        if changed is not None:
            self.result = changed

    def _call_always_called(self):
        """After an error: the hooks that asked for it. A further error in one of them becomes a warning."""
        for start, hooks, marked in (("global module", _forward, everywhere.always_called),
                                     ("module", self.module._forward_hooks, self.module._forward_hooks_always_called)):
            for key, hook in tuple(hooks.items()):
                if key not in marked or key in self.called:
                    continue
                try:
                    self._call_forward_hook(key, hook)
                except Exception as error:
                    warnings.warn(f"{start} forward hook with ``always_call=True`` raised an exception that was "
                                  f"silenced as another error was raised in forward: {error}", stacklevel=4)

    def _attach_old_hooks(self, hooks):
        if not hooks:
            return
        node = first_tensor(self.result).grad_fn
        if node is None:
            return
        for hook in hooks:
            node.register_hook(with_module(hook, self.module))
        warn_of_old_hook(self.args, self.result, node)


OLD_HOOK = "Using {} is deprecated and will be removed in future versions. This hook will be missing some {}.{}"
USE_THE_NEW = " Please use register_full_backward_hook to get the documented behavior."


def warn_of_old_hook(inputs, result, node):
    """Say what a deprecated backward hook on `node` will not see: all but the last operation of the forward."""
    reason = missing_from_old_hook(inputs, result, node)
    if reason is not None:
        where, what, advice = reason
        warnings.warn(OLD_HOOK.format(where, what, advice), FutureWarning, stacklevel=5)


def missing_from_old_hook(inputs, result, node):
    """(where the hook is used, what it misses, advice), or None if it sees everything."""
    outputs = (result,) if isinstance(result, Tensor) else result
    on_module = "non-full backward hooks on a Module that does not {} a single Tensor or a tuple of Tensors"
    if not are_tensors(outputs):
        return on_module.format("return"), "of the grad_output", USE_THE_NEW
    if not are_tensors(inputs):
        return on_module.format("take as input"), "of the grad_input", USE_THE_NEW
    made_by = {t.grad_fn for t in outputs if t.grad_fn is not None}
    if not made_by or len(made_by) == 1 and node not in made_by:
        return "a non-full backward hook when outputs are nested in python data structure", "grad_output", ""
    if len(made_by) > 1:
        where = "a non-full backward hook when outputs are generated by different autograd Nodes"
        return where, "grad_output", USE_THE_NEW
    if {t.grad_fn for t in inputs if t.grad_fn is not None} != {edge[0] for edge in node.next_functions}:
        where = "a non-full backward hook when the forward contains multiple autograd Nodes"
        return where, "grad_input", USE_THE_NEW
    return None


def are_tensors(values):
    return isinstance(values, tuple) and all(isinstance(v, Tensor) for v in values)


def with_module(hook, module):
    return lambda grad_inputs, grad_outputs: hook(module, grad_inputs, grad_outputs)


def first_tensor(value):
    """The first tensor in a result that may be a dict or a sequence."""
    while not isinstance(value, Tensor):
        value = next(v for v in value.values() if isinstance(v, Tensor)) if isinstance(value, dict) else value[0]
    return value
