"""Lazy modules: layers that find out the size of their input when they are first called.

Their parameters are uninitialized until then (parameter.py). A forward pre-hook calls `initialize_parameters` with the
first input, removes itself, and makes the module one of the ordinary class.
https://pytorch.org/docs/stable/generated/torch.nn.modules.lazy.LazyModuleMixin.html
"""
from ..autograd.grad_mode import no_grad
from .parameter import is_lazy


class LazyModuleMixin:
    """Comes before a module class, and makes it lazy.

    Subclasses hold UninitializedParameters, define `initialize_parameters(input)`, which materializes them, and name
    in `cls_to_become` the class to be afterwards.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _tensors(self):
        return [*self._parameters.items(), *self._buffers.items()]

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Uninitialized tensors are saved as they are: they cannot be detached."""
        for name, value in self._own_state().items():
            destination[prefix + name] = value if is_lazy(value) or keep_vars else value.detach()

    def _lazy_load_hook(self, state_dict, prefix, *_):
        """Take the shapes from a state that has them."""
        for name, value in self._tensors():
            loaded = state_dict.get(prefix + name)
            if is_lazy(value) and loaded is not None and not is_lazy(loaded):
                with no_grad():
                    value.materialize(loaded.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Materialize the parameters, given the arguments of the first call."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer of this module is uninitialized."""
        return any(is_lazy(value) for _, value in self._tensors())

    def _infer_parameters(self, module, args, kwargs=None):
        """The pre-hook of the first call. RuntimeError if something stays uninitialized."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
