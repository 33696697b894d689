"""GradScaler: float16 gradients kept away from zero by scaling the loss (Micikevicius et al. 2018, section 3.2)."""
import warnings
from collections import defaultdict

from ..core.dtype import float16, float32
from ..ops.declare import exports
from ..tensor import Tensor

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"


class OptimizerState:
    """How far this iteration has come with one optimizer, and whether an infinity or NaN was seen."""

    def __init__(self):
        self.stage = READY
        self.found_inf = None


def checked_scale(new_scale):
    """A scale that a user gives, as a number. AssertionError for a tensor of several, or one that requires grad."""
    if isinstance(new_scale, Tensor) and (new_scale.numel() != 1 or new_scale.requires_grad):
        raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor "
                             "with requires_grad=False.")
    return float(new_scale)


class GradScaler:
    """Multiplies losses by a factor and divides the gradients by it before the step; skips steps with inf or NaN.

    Args:
        device: "cpu". The default, "cuda", is switched off with a warning where there is no GPU, as in PyTorch.
        init_scale: the first factor.
        growth_factor: the factor grows by this, greater than 1, after `growth_interval` steps without overflow.
        backoff_factor: and shrinks by this, less than 1, after one with.
        enabled: False makes all methods pass on what they get.

    https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
    """

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        if enabled and device == "cuda":
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._device, self._enabled = device, enabled
        self._scale, self._was_used = float(init_scale), False
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._states = defaultdict(OptimizerState)

    # ---- one iteration ----------------------------------------------------------------------------------------

    def scale(self, outputs):
        """`outputs`, a tensor or an iterable of them, times the factor."""
        if not self._enabled:
            return outputs
        self._was_used = True
        if hasattr(outputs, "grad_fn"):
            return outputs * exports[""]["full"]((), self._scale, dtype=float32)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(o) for o in outputs)
        if hasattr(outputs, "__iter__"):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer):
        """Divide the gradients of an optimizer's parameters by the factor, once per iteration."""
        if not self._enabled:
            return
        self._require_use("unscale_")
        found = self._states[id(optimizer)]
        if found.stage is UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if found.stage is STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        found.found_inf = self._unscale(optimizer)
        found.stage = UNSCALED

    def _unscale(self, optimizer):
        """Divide all gradients; whether any of them, before, had an infinity or NaN. None if there is none."""
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if not gradients:
            return None
        if any(g.dtype is float16 for g in gradients):
            raise ValueError("Attempting to unscale FP16 gradients.")
        is_finite = [bool(g.isfinite().all()) for g in gradients]
        for gradient in gradients:
            gradient.mul_(1.0 / self._scale)
        return not all(is_finite)

    def step(self, optimizer, *args, **kwargs):
        """unscale_, unless that has been done; then optimizer.step(), unless an infinity or NaN was found."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._require_use("step")
        found = self._states[id(optimizer)]
        if found.stage is STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if found.stage is READY:
            self.unscale_(optimizer)
        if found.found_inf is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        found.stage = STEPPED
        return None if found.found_inf else optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """The factor for the next iteration: shrunk after an overflow, grown after many steps without, or given."""
        if not self._enabled:
            return
        self._require_use("update")
        if new_scale is not None:
            self._scale = checked_scale(new_scale)
        else:
            self._adapt([s.found_inf for s in self._states.values() if s.found_inf is not None])
        self._states = defaultdict(OptimizerState)

    def _adapt(self, found):
        if not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        self._growth_tracker = 0 if any(found) else self._growth_tracker + 1
        if any(found):
            self._scale *= self._backoff_factor
        elif self._growth_tracker == self._growth_interval:
            self._scale, self._growth_tracker = self._scale * self._growth_factor, 0

    def _require_use(self, name):
        if not self._was_used:
            raise AssertionError(f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                                 "scaler.scale(loss or outputs) earlier in the iteration.")

    # ---- asking, setting, saving ------------------------------------------------------------------------------

    def is_enabled(self):
        """Whether it scales at all."""
        return self._enabled

    def get_scale(self):
        """The factor; 1.0 if switched off."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self):
        """By what the scale grows after enough steps without overflow."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Set by what the scale grows, a number greater than 1."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """By what the scale shrinks after an overflow."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Set by what the scale shrinks after an overflow, a number less than 1."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """How many steps without overflow let the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Set how many steps without overflow let the scale grow, an int."""
        self._growth_interval = new_interval

    def __getstate__(self):
        """What pickling keeps. AssertionError within an iteration: how far it has come is not kept."""
        if self._enabled and self._states:
            raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or at "
                                 "the end after scaler.update().")
        return self.__dict__

    def state_dict(self):
        """What a checkpoint keeps; empty if switched off."""
        if not self._enabled:
            return {}
        return {"scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict):
        """Go on from a checkpoint. RuntimeError if that is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled "
                               "instance of GradScaler.")
        self._scale, self._growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
