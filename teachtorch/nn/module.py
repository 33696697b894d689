"""Module: parameters, buffers and submodules under names, and a `forward`.

What a module holds is what was assigned to it: __setattr__ sorts Parameters into `_parameters`, Modules into
`_modules`, Buffers (and tensors assigned to a buffer's name) into `_buffers`; everything else is an attribute.
https://pytorch.org/docs/stable/generated/torch.nn.Module.html
"""
import functools
from collections import OrderedDict, namedtuple

from ..core.hooks import RemovableHandle
from ..core.dtype import dtype as dtype_class
from ..autograd.grad_mode import no_grad
from ..tensor import Tensor
from .parameter import Buffer, Parameter

IncompatibleKeys = namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])

_global_forward_pre_hooks = OrderedDict()
_global_forward_hooks = OrderedDict()


def register_module_forward_pre_hook(hook):
    """Call hook(module, args) before the forward of every module."""
    return RemovableHandle.add(_global_forward_pre_hooks, hook)


def register_module_forward_hook(hook, *, always_call=False):
    """Call hook(module, args, output) after the forward of every module."""
    return RemovableHandle.add(_global_forward_hooks, hook)


class _ForwardHook:
    """A forward hook and how it wants to be called."""

    def __init__(self, hook, with_kwargs=False, always_call=False):
        self.hook, self.with_kwargs, self.always_call = hook, with_kwargs, always_call


class Module:
    """Base class of all neural network modules. Subclasses call super().__init__() and define `forward`."""

    training = True
    _version = 1

    def __init__(self):
        set_plain = functools.partial(object.__setattr__, self)
        set_plain("training", True)
        set_plain("_parameters", OrderedDict())
        set_plain("_buffers", OrderedDict())
        set_plain("_non_persistent_buffers_set", set())
        set_plain("_modules", OrderedDict())
        set_plain("_forward_pre_hooks", OrderedDict())
        set_plain("_forward_hooks", OrderedDict())
        set_plain("_state_dict_hooks", OrderedDict())
        set_plain("_load_state_dict_pre_hooks", OrderedDict())
        set_plain("_load_state_dict_post_hooks", OrderedDict())

    def forward(self, *args):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- attributes -------------------------------------------------------------------------------------------

    def __setattr__(self, name, value):
        parameters = self.__dict__.get("_parameters")
        if isinstance(value, Parameter):
            self._require_init("parameters")
            self._forget(name)
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(f"cannot assign '{type_name(value)}' as parameter '{name}' "
                                "(torch.nn.Parameter or None expected)")
            parameters[name] = None
        elif isinstance(value, Module):
            self._require_init("module")
            self._forget(name)
            self._modules[name] = value
        elif name in self.__dict__.get("_modules", ()):
            if value is not None:
                raise TypeError(f"cannot assign '{type_name(value)}' as child module '{name}' "
                                "(torch.nn.Module or None expected)")
            self._modules[name] = None
        elif isinstance(value, Buffer):
            self._require_init("buffers")
            self._forget(name)
            self.register_buffer(name, value, value.persistent)
        elif name in self.__dict__.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _require_init(self, what):
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")

    def _set_buffer(self, name, value):
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(f"cannot assign '{type_name(value)}' as buffer '{name}' "
                            "(torch.nn.Buffer, torch.Tensor or None expected)")
        self._buffers[name] = value

    def _forget(self, name):
        """Take a name out of wherever it is now, before something else gets it."""
        self.__dict__.pop(name, None)
        for held in (self._parameters, self._buffers, self._modules):
            held.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __getattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            held = self.__dict__.get(kind)
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
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})

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
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that belongs to the module's state but is not trained. `persistent`: state_dict has it."""
        self._require_init("buffer")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Add a child module under a name. KeyError for a name that is taken or has a dot."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_name(name, "module", self._modules)
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, name, kind, held):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' if kind != "module" else
                           f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in held and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    # ---- calling ----------------------------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        if not (self._forward_pre_hooks or self._forward_hooks or _global_forward_pre_hooks or _global_forward_hooks):
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args, kwargs):
        """Global pre-hooks, own pre-hooks, forward, global hooks, own hooks."""
        ran = set()
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            result = self.forward(*args, **kwargs)
            for hook in tuple(_global_forward_hooks.values()):
                result = replaced(result, hook(self, args, result))
            for key, entry in tuple(self._forward_hooks.items()):
                ran.add(key)
                result = replaced(result, run_forward_hook(entry, self, args, kwargs, result))
            return result
        except Exception:
            for key, entry in tuple(self._forward_hooks.items()):
                if entry.always_call and key not in ran:
                    run_forward_hook(entry, self, args, kwargs, None)
            raise

    def _run_pre_hooks(self, args, kwargs):
        for hook in tuple(_global_forward_pre_hooks.values()):
            args = as_args(args, hook(self, args))
        for entry in tuple(self._forward_pre_hooks.values()):
            if entry.with_kwargs:
                changed = entry.hook(self, args, kwargs)
                if changed is not None:
                    args, kwargs = changed
            else:
                args = as_args(args, entry.hook(self, args))
        return args, kwargs

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call hook(module, args) before forward; what it returns replaces the arguments."""
        return RemovableHandle.add(self._forward_pre_hooks, _ForwardHook(hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call hook(module, args, output) after forward; what it returns replaces the output.

        `always_call`: also when forward raised.
        """
        return RemovableHandle.add(self._forward_hooks, _ForwardHook(hook, with_kwargs, always_call), prepend)

    # ---- walking ----------------------------------------------------------------------------------------------

    def named_children(self):
        """(name, module) of the direct children, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(path, module) of this module and all below it, parents first."""
        memo = set() if memo is None else memo
        if id(self) in memo:
            return
        if remove_duplicate:
            memo.add(id(self))
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, join(prefix, name), remove_duplicate)

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def _named_members(self, held, prefix, recurse, remove_duplicate):
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in held(module).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield join(path, name), value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, parameter); a shared parameter appears once, under its first name."""
        return self._named_members(lambda module: module._parameters, prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(path, buffer), each buffer once."""
        return self._named_members(lambda module: module._buffers, prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target):
        """The module at a path such as "layers.0.norm". AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def get_parameter(self, target):
        """The parameter at a path. AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        found = getattr(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target):
        """The buffer at a path. AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]

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
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Freeze or unfreeze all parameters; returns self."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forget the parameters' gradients, or fill them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad.detach_().zero_() if parameter.grad.grad_fn is not None else \
                    parameter.grad.requires_grad_(False).zero_()

    def _apply(self, fn):
        """Replace the data of every parameter, gradient and buffer by fn of it; parameters keep their identity."""
        for module in self.children():
            module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is not None:
                with no_grad():
                    parameter.data = fn(parameter.data)
                    if parameter.grad is not None:
                        parameter.grad.data = fn(parameter.grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Convert parameters and buffers, in place: a floating dtype converts floating ones only; returns self."""
        dtype = kwargs.get("dtype") or next((a for a in args if isinstance(a, dtype_class)), None)
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        rest = [a for a in args if not isinstance(a, dtype_class)]
        rest_kwargs = {k: v for k, v in kwargs.items() if k != "dtype"}

        def convert(t):
            if dtype is not None and t.is_floating_point():
                t = t.to(dtype)
            return t.to(*rest, **rest_kwargs) if rest or rest_kwargs else t
        return self._apply(convert)

    def type(self, dst_type):
        return self._apply(lambda t: t.to(dst_type))

    def _to_floating(self, name):
        return self._apply(lambda t: getattr(t, name)() if t.is_floating_point() else t)

    def float(self):
        return self._to_floating("float")

    def double(self):
        return self._to_floating("double")

    def half(self):
        return self._to_floating("half")

    def bfloat16(self):
        return self._to_floating("bfloat16")

    def cpu(self):
        return self._apply(lambda t: t.cpu())

    # ---- state ------------------------------------------------------------------------------------------------

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """{path: tensor} of parameters and persistent buffers, own ones before children's.

        The tensors are detached aliases of the live ones, not copies; `keep_vars` gives the Parameters themselves.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local = dict(version=self._version)
        destination._metadata[prefix[:-1]] = local
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local)
            destination = destination if changed is None else changed
        return destination

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()

    def _own_state(self):
        """This module's own parameters and persistent buffers by name."""
        buffers = {n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}
        return {n: v for n, v in {**self._parameters, **buffers}.items() if v is not None}

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy a state into this module, in place (`assign`: take its tensors over instead).

        Returns (missing_keys, unexpected_keys). RuntimeError lists every key that is missing or unexpected (if
        `strict`) and every size mismatch (always); then nothing has been changed.
        """
        if not hasattr(state_dict, "keys"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state = OrderedDict(state_dict)
        for prefix, module in self._paths():
            local = {} if metadata is None else metadata.get(prefix[:-1], {})
            module._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
        known = {key for prefix, module in self._paths() for key in (prefix + n for n in module._own_state())}
        unexpected += [key for key in state if key not in known]
        problems = list(errors)
        if strict and unexpected:
            keys = ", ".join(f'"{key}"' for key in unexpected)
            problems.insert(0, f"Unexpected key(s) in state_dict: {keys}. ")
        if strict and missing:
            keys = ", ".join(f'"{key}"' for key in missing)
            problems.insert(0, f"Missing key(s) in state_dict: {keys}. ")
        if problems:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(problems))
        self._copy_state(state, assign)
        incompatible = IncompatibleKeys(missing, unexpected)
        for module in self.modules():
            for hook in module._load_state_dict_post_hooks.values():
                hook(module, incompatible)
        return incompatible

    def _paths(self, prefix=""):
        """(prefix, module) of this module and all below it; shared modules under each of their names."""
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module._paths(f"{prefix}{name}.")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
                              error_msgs):
        """Note this module's missing keys and size mismatches; hooks may first rewrite the state."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        for name, value in self._own_state().items():
            key = prefix + name
            if key not in state_dict:
                missing_keys.append(key)
            elif not isinstance(state_dict[key], Tensor):
                error_msgs.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                                  f"object from checkpoint but received {type(state_dict[key])}")
            elif state_dict[key].shape != value.shape:
                error_msgs.append(f"size mismatch for {key}: copying a param with shape {state_dict[key].shape} from "
                                  f"checkpoint, the shape in current model is {value.shape}.")

    @no_grad()
    def _copy_state(self, state, assign):
        for prefix, module in self._paths():
            for name, value in module._own_state().items():
                if prefix + name not in state:
                    continue
                if assign:
                    module._assign_state(name, state[prefix + name], value)
                else:
                    value.copy_(state[prefix + name])

    def _assign_state(self, name, new, old):
        if name in self._parameters:
            self._parameters[name] = new if isinstance(new, Parameter) else Parameter(new, old.requires_grad)
        else:
            self._buffers[name] = new

    def register_state_dict_post_hook(self, hook):
        """Call hook(module, state_dict, prefix, local_metadata) after state_dict has collected."""
        return RemovableHandle.add(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Call hook(module, state_dict, prefix, ...) before this module's keys are compared."""
        return RemovableHandle.add(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook):
        """Call hook(module, incompatible_keys) after loading."""
        return RemovableHandle.add(self._load_state_dict_post_hooks, hook)

    # ---- showing ----------------------------------------------------------------------------------------------

    def extra_repr(self):
        """What the module's line in a printout says in its parentheses."""
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + indented(repr(module)) for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


def replaced(old, new):
    return old if new is None else new


def as_args(args, changed):
    """The arguments after a pre-hook, which may return a tuple or a single value."""
    if changed is None:
        return args
    return changed if isinstance(changed, tuple) else (changed,)


def run_forward_hook(entry, module, args, kwargs, result):
    if entry.with_kwargs:
        return entry.hook(module, args, kwargs, result)
    return entry.hook(module, args, result)


def join(prefix, name):
    return f"{prefix}.{name}" if prefix else name


def type_name(value):
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{public_module(cls.__module__)}.{cls.__name__}"


def public_module(name):
    """The module's name as PyTorch's messages print it."""
    return "torch" if name == "teachtorch.tensor" else name.replace("teachtorch", "torch")


def indented(text):
    """Every line but the first two spaces further in."""
    return text.replace("\n", "\n  ")
