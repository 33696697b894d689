"""Module: parameters, buffers and submodules under names, and a `forward`.

What a module holds is what was assigned to it: __setattr__ sorts Parameters into `_parameters`, Modules into
`_modules`, Buffers (and tensors assigned to a buffer's name) into `_buffers`; everything else is an attribute.
Calling a module and its hooks: hooks.py. state_dict and load_state_dict: state.py.
https://pytorch.org/docs/stable/generated/torch.nn.Module.html
"""
from collections import OrderedDict

from ..autograd.grad_mode import no_grad
from ..core.device import as_device
from ..core.device import device as device_class
from ..core.dtype import dtype as dtype_class
from ..dispatch.call_rules import objection
from ..ops.arguments import PYTHON_DTYPES, as_dtype
from ..ops.declare import exports
from ..tensor import Tensor
from .hooks import (HookedCall, everywhere, register_module_backward_hook,  # noqa: F401
                    register_module_buffer_registration_hook, register_module_forward_hook,
                    register_module_forward_pre_hook, register_module_full_backward_hook,
                    register_module_full_backward_pre_hook, register_module_module_registration_hook,
                    register_module_parameter_registration_hook)
from .parameter import Buffer, Parameter
from .state import Stateful

HOOK_DICTS = ("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks",
              "_forward_pre_hooks_with_kwargs", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks",
              "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")


class Module(HookedCall, Stateful):
    """Base class of all neural network modules. Subclasses call super().__init__() and define `forward`.

    `training`: whether the module trains or evaluates, which matters to Dropout and its like.
    """

    training = True
    _version = 1                  # of what state_dict saves; see _load_from_state_dict
    call_super_init = False       # whether __init__ passes its arguments on to the next class (multiple inheritance)

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            self._refuse_arguments(args, kwargs)
        fields = self.__dict__
        fields["training"] = True
        fields["_parameters"], fields["_buffers"], fields["_modules"] = {}, {}, {}
        fields["_non_persistent_buffers_set"] = set()
        fields["_is_full_backward_hook"] = None
        for name in HOOK_DICTS:
            fields[name] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def _refuse_arguments(self, args, kwargs):
        start = f"{type(self).__name__}.__init__()"
        if kwargs:
            raise TypeError(f"{start} got an unexpected keyword argument '{next(iter(kwargs))}'")
        if args:
            raise TypeError(f"{start} takes 1 positional argument but {len(args) + 1} were given")

    def forward(self, *args):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- attributes -------------------------------------------------------------------------------------------

    def __setattr__(self, name, value):
        fields = self.__dict__
        if isinstance(value, Parameter):
            self._require_init("parameters")
            self._forget(name, but="_parameters")
            self.register_parameter(name, value)
        elif name in fields.get("_parameters", ()):
            self._refuse_replacement(name, value, "parameter", "torch.nn.Parameter or None expected")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            self._require_init("module")
            self._forget(name, but="_modules")
            self._put_module(name, value)
        elif name in fields.get("_modules", ()):
            self._refuse_replacement(name, value, "child module", "torch.nn.Module or None expected")
            self._put_module(name, None)
        elif isinstance(value, Buffer) or name in fields.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _require_init(self, what):
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _forget(self, name, but):
        """Take a name out of wherever else it is, before something new gets it."""
        self.__dict__.pop(name, None)
        for held in ("_parameters", "_buffers", "_modules"):
            if held != but:
                self.__dict__[held].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    @staticmethod
    def _refuse_replacement(name, value, what, expected):
        if value is not None:
            raise TypeError(f"cannot assign '{type_name(value)}' as {what} '{name}' ({expected})")

    def _put_module(self, name, module):
        self._modules[name] = agreed(everywhere.module_registration, self, name, module)

    def _set_buffer(self, name, value):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"cannot assign '{type_name(value)}' as buffer '{name}' "
                            "(torch.nn.Buffer, torch.Tensor or None expected)")
        persistent = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
        self.register_buffer(name, value, persistent)

    def __getattr__(self, name):
        fields = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            held = fields.get(kind)
            if held is not None and name in held:
                return held[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for held in (self._parameters, self._buffers, self._modules):
            if name in held:
                del held[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    def __setstate__(self, state):
        self.__dict__.update(state)

    def register_parameter(self, name, param):
        """Add a parameter; None reserves the name. KeyError for a name that is taken or has a dot."""
        self._require_init("parameter")
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                            "(torch.nn.Parameter or None required)")
        if param is not None and param.grad_fn is not None:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                             f"explicitly. To express '{name}' as a function of another Tensor, compute the value in "
                             "the forward() method.")
        if param is not None:
            param = agreed(everywhere.parameter_registration, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that belongs to the module's state but is not trained. `persistent`: state_dict has it."""
        self._require_init("buffer")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = agreed(everywhere.buffer_registration, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Add a child module under a name. KeyError for a name that is taken or has a dot."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name(name, "module", self._modules)
        self._put_module(name, module)

    def register_module(self, name, module):
        """The same as add_module."""
        self.add_module(name, module)

    def _check_name(self, name, kind, held):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type_name(name)}")
        if name not in held and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            got = f", got: {name}" if kind == "module" else ""
            raise KeyError(f'{kind} name can\'t contain "."{got}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    # ---- walking ----------------------------------------------------------------------------------------------

    def named_children(self):
        """(name, module) of the direct children, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self):
        """The direct children, each once."""
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(path, module) of this module and all below it, parents first. `memo`: modules to leave out, a set."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, join(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate=True):
        """This module and all below it."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def _named_members(self, get_members_fn, prefix="", recurse=True, remove_duplicate=True):
        """(path, member) of what `get_members_fn(module)` gives as (name, member) pairs; None is left out."""
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield join(path, name), value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, parameter); a shared parameter appears once, under its first name."""
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """The parameters, each once; `recurse`: those of the children too."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, buffer), each buffer once."""
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """The buffers, each once; `recurse`: those of the children too."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _found(self, name):
        if not hasattr(self, name):
            raise AttributeError(f"{self._get_name()} has no attribute `{name}`")
        return getattr(self, name)

    def get_submodule(self, target):
        """The module at a path such as "layers.0.norm". AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            module = module._found(name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        """Put a module at a path. `strict`: only in the place of another one. AttributeError if that cannot be."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            if not isinstance(parent._found(name), Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target):
        """The parameter at a path. AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        found = self.get_submodule(path)._found(name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target):
        """The buffer at a path. AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = module._found(name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    # ---- changing all at once ---------------------------------------------------------------------------------

    def apply(self, fn):
        """Call fn on every module, children before their parent; returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        """Set the training flag of this module and all below it; returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Freeze or unfreeze all parameters; returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forget the parameters' gradients, or fill them with zeros."""
        for parameter in self.parameters():
            grad = parameter.grad
            if grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                grad.detach_() if grad.grad_fn is not None else grad.requires_grad_(False)
                grad.zero_()

    def _apply(self, fn, recurse=True):
        """Replace the data of every parameter, gradient and buffer by fn of it; parameters keep their identity."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                convert_data(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Convert parameters and buffers, in place; returns self. A dtype converts floating ones only.

        `to(device)`, `to(dtype)`, `to(device, dtype)` or `to(tensor)`; `memory_format=` lays out those of four and
        five dimensions. TypeError for a dtype that is not floating.
        """
        device, dtype, memory_format = conversion(*args, **kwargs)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError("nn.Module.to only accepts floating point or complex dtypes, but got desired "
                            f"dtype={dtype}")

        def convert(t):
            is_laid_out = memory_format is not None and t.dim() in (4, 5)  # a lazy parameter has no dimensions yet
            return converted(
                t, device, dtype if t.is_floating_point() else None, memory_format if is_laid_out else None
            )

        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Move parameters and buffers to a device without their values."""
        return self._apply(lambda t: exports[""]["empty_like"](t, device=device), recurse)

    def type(self, dst_type):
        """Convert all parameters and buffers, floating or not."""
        return self._apply(lambda t: t.type(dst_type))

    def _to_floating(self, name):
        return self._apply(lambda t: getattr(t, name)() if t.is_floating_point() else t)

    def float(self):
        """Convert floating parameters and buffers to float32; returns self."""
        return self._to_floating("float")

    def double(self):
        """Convert floating parameters and buffers to float64; returns self."""
        return self._to_floating("double")

    def half(self):
        """Convert floating parameters and buffers to float16; returns self."""
        return self._to_floating("half")

    def bfloat16(self):
        """Convert floating parameters and buffers to bfloat16; returns self."""
        return self._to_floating("bfloat16")

    def cuda(self, device=None):
        """Move parameters and buffers to a GPU; returns self."""
        return self._apply(lambda t: t.cuda(device))

    def cpu(self):
        """Move parameters and buffers to the CPU; returns self."""
        return self._apply(lambda t: t.cpu())

    def share_memory(self):
        """Move parameters and buffers to shared memory; returns self."""
        return self._apply(lambda t: t.share_memory_())

    # ---- showing ----------------------------------------------------------------------------------------------

    def extra_repr(self):
        """What the module's line in a printout says in its parentheses."""
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        return shown(self._get_name(), extra.split("\n") if extra else [], children)


def agreed(hooks, module, name, value):
    """The value to register after all registration hooks had their say."""
    for hook in hooks.values():
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


def convert_data(parameter, fn):
    """Replace a parameter's data, and its gradient's, by fn of it."""
    grad = parameter.grad
    with no_grad():
        parameter.data = fn(parameter)
        if grad is not None:
            grad.data = fn(grad)




def conversion(*args, **kwargs):
    """(device, dtype, memory_format) that the arguments of `to` ask for, None where they do not say.

    TypeError for what Tensor.to would not take either, RuntimeError for `copy`."""
    args = [float if isinstance(a, float) else a for a in args]          # PyTorch takes to(0.5) for to(float)
    said = objection("Tensor.to", (None, *args), kwargs)
    if said is not None:
        raise TypeError(said)
    if kwargs.get("copy") or [a for a in args if isinstance(a, bool)][1:] == [True]:      # non_blocking, copy
        raise RuntimeError(".to() does not accept copy argument")
    device, dtype, memory_format = kwargs.get("device"), kwargs.get("dtype"), kwargs.get("memory_format")
    for a in (*args, kwargs.get("tensor")):
        if isinstance(a, Tensor):
            device, dtype = a.device, a.dtype
        elif isinstance(a, dtype_class) or a in PYTHON_DTYPES:
            dtype = a
        elif isinstance(a, str | int | device_class) and not isinstance(a, bool):
            device = a
    device = None if device is None else as_device(device)
    return device, None if dtype is None else as_dtype(dtype, "to"), memory_format


def converted(t, device, dtype, memory_format=None):
    try:
        return t.to(device=device or t.device, dtype=dtype or t.dtype, memory_format=memory_format)
    except NotImplementedError as error:
        if str(error) != "Cannot copy out of meta tensor; no data!":
            raise
        raise NotImplementedError(f"{error} Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to() "
                                  "when moving module from meta to a different device.") from None


def join(prefix, name):
    return f"{prefix}.{name}" if prefix else name


def type_name(value):
    """The type as PyTorch's messages name it."""
    if isinstance(value, Tensor):
        return value.type()
    cls = value if hasattr(value, "__qualname__") else type(value)
    if cls.__module__ == "builtins":
        return cls.__name__
    return f"{cls.__module__.replace('teachtorch', 'torch')}.{cls.__qualname__}"


def shown(name, lines, children):
    """A module's printout: on one line, or one line for each of its own lines and its children."""
    if not children and len(lines) <= 1:
        return f"{name}({''.join(lines)})"
    return f"{name}(\n  " + "\n  ".join(lines + children) + "\n)"


def indented(text):
    """Every line but the first two spaces further in; blank lines stay blank."""
    first, *rest = text.split("\n")
    return "\n".join([first, *[f"  {line}" if line.strip() else "" for line in rest]])
