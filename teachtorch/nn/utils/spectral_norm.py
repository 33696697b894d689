"""Spectral norm as a forward pre-hook: the older form of parametrizations.spectral_norm.

Before each forward the hook improves the buffers `weight_u` and `weight_v`, the first singular vectors, and sets
`weight` to the parameter `weight_orig` divided by its largest singular value.
"""
from ...autograd.grad_mode import no_grad
from ...ops.declare import exports
from .. import functional as F
from ..parameter import Parameter, UninitializedParameter
from .parametrizations import output_dim

mv = exports[""]["mv"]


class SpectralNorm:
    """The hook. ValueError unless n_power_iterations is positive."""

    _version = 1                # of the state: version 0 had no v

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def reshape_weight_to_matrix(self, weight):
        return weight.movedim(self.dim, 0).reshape(weight.size(self.dim), -1)

    def compute_weight(self, module, do_power_iteration):
        weight, u, v = [getattr(module, self.name + end) for end in ("_orig", "_u", "_v")]
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            self._iterate(matrix, u, v)
            u, v = u.clone(), v.clone()                # the next forward changes the buffers, backward wants these
        return weight / u.dot(mv(matrix, v))

    @no_grad()
    def _iterate(self, matrix, u, v):
        for _ in range(self.n_power_iterations):
            v.copy_(F.normalize(mv(matrix.t(), u), dim=0, eps=self.eps))
            u.copy_(F.normalize(mv(matrix, v), dim=0, eps=self.eps))

    def remove(self, module):
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    def _solve_v_and_rescale(self, matrix, u, target_sigma):
        """A v with u = normalize(W v) and u W v = sigma, for states that lack it."""
        v = (matrix.t() @ matrix).pinverse() @ (matrix.t() @ u)
        return v.mul_(target_sigma / u.dot(mv(matrix, v)))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Rename the parameter `name` to `name_orig`, add the buffers and register the hooks."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = checked_weight(module._parameters[name], name)
        matrix = hook.reshape_weight_to_matrix(weight.data)
        u, v = [F.normalize(matrix.new_empty(size).normal_(0, 1), dim=0, eps=eps) for size in matrix.shape]
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


def checked_weight(weight, name):
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    if isinstance(weight, UninitializedParameter):
        raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run "
                         "the dummy forward before applying spectral normalization")
    return weight


class SpectralNormLoadStateDictPreHook:
    """Makes the v that states of version 0 lack."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        fn, key = self.fn, prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(fn.name + ".version", None)
        has_all = all(key + end in state_dict for end in ("_orig", "_u", "_v")) and key not in state_dict
        if version is not None and version >= 1 or version is None and has_all:
            return
        missing = [key + end for end in ("_orig", "", "_u") if key + end not in state_dict]
        if missing:
            missing_keys += missing if strict else []
            return
        with no_grad():
            original, weight = state_dict[key + "_orig"], state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix = fn.reshape_weight_to_matrix(original)
            state_dict[key + "_v"] = fn._solve_v_and_rescale(matrix, state_dict[key + "_u"], sigma)


class SpectralNormStateDictHook:
    """Notes the version of the state."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, module, state_dict, prefix, local_metadata):
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """The older form of parametrizations.spectral_norm. Returns the module."""
    SpectralNorm.apply(module, name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Make the weight a parameter again, as it is now; returns the module. ValueError if it has no spectral norm.

    Unlike PyTorch 2.13 this also removes the hook of load_state_dict, which would report keys of the norm as missing.
    """
    if not take_hook(module._forward_pre_hooks, lambda hook: isinstance(hook, SpectralNorm) and hook.name == name,
                     lambda hook: hook.remove(module)):
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks, kind in ((module._state_dict_hooks, SpectralNormStateDictHook),
                        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook)):
        take_hook(hooks, lambda hook: isinstance(unwrapped(hook), kind) and unwrapped(hook).fn.name == name)
    return module


def unwrapped(hook):
    """The hook itself: the ones of load_state_dict are wrapped, to know whether they want their module."""
    return getattr(hook, "hook", hook)


def take_hook(hooks, is_wanted, first=lambda hook: None):
    """Remove the first wanted hook, after calling `first` on it; whether there was one."""
    for key, hook in hooks.items():
        if is_wanted(hook):
            first(hook)
            del hooks[key]
            return True
    return False
