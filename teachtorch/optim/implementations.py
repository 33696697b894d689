"""One update rule, three ways to run it: for-loop, foreach, fused.

A rule is written once, in operations `do.mul_(...)`, `do.addcdiv_(...)`:

    for-loop   `do` is FOR_LOOP, and everything is one tensor: k operators for each of N parameters
    foreach    `do` is FOREACH, and everything is a list of N tensors: k torch._foreach_* operators
    fused      the rule is not run: one operator (ops/fused_optim.py) updates all parameters

PyTorch chooses as `choose` does; its default on the CPU is the for-loop. The reason for the others is an
accelerator, where each operator is a launch of a kernel, and the memory traffic
(https://pytorch.org/docs/stable/optim.html).
"""
from ..autograd.tensor_fields import bump_version
from ..core import observer
from ..core.settings import get_default_dtype
from ..core import dtype as dt
from ..dispatch.keys import PYTHON
from ..dispatch.operator import registry
from ..ops.declare import exports
from ..tensor import Entries, Tensor, array_of
from .optimizer import Optimizer, loss_of, number, updating

tensor, zeros_like = exports[""]["tensor"], exports[""]["zeros_like"]
add, add_ = registry["add"].call, registry["add_"].call

ACCELERATORS = ("sim", "cuda")
FUSED_DEVICES = ("cpu", "cuda", "sim")
CAPTURABLE_DEVICES = "['cuda', 'xpu', 'hpu', 'privateuseone'{}]"
OPERATIONS = ("neg", "abs", "sqrt", "add", "add_", "sub", "mul", "mul_", "div", "div_", "abs_", "sqrt_",
              "reciprocal_", "addcmul", "addcmul_", "addcdiv_", "lerp_", "copy_")


class ForLoop:
    """The operations on one tensor: the ordinary operators."""

    is_list, is_recorded = False, False

    @staticmethod
    def add(x, other, alpha=1):
        """x + alpha * other, straight by the operator: what `Tensor.add` asks of a number, a rule need not be asked."""
        return add(x, other, alpha)

    @staticmethod
    def add_(x, other, alpha=1):
        return add_(x, other, alpha)

    @staticmethod
    def maximum_(x, other):
        exports[""]["_foreach_maximum_"]([x], [other])

    @staticmethod
    def clone(x):
        return x.detach().clone()

    @staticmethod
    def each(function, *values):
        """function(number of the tensor, ...): what may differ between the tensors of a list."""
        return function(*values)

    @staticmethod
    def kept(x):
        """`x`, as it must be for backward if a later step changes it in place."""
        return x


class Recorded(ForLoop):
    """For `differentiable`: what autograd will need is not overwritten."""

    is_recorded = True

    @staticmethod
    def maximum_(x, other):
        x.copy_(x.clone().maximum(other))

    @staticmethod
    def kept(x):
        return x.clone()


class Foreach:
    """The operations on a list of tensors: torch._foreach_*."""

    is_list, is_recorded = True, False

    @staticmethod
    def clone(x):
        return [t.detach().clone() for t in x]

    @staticmethod
    def each(function, *values):
        return [function(*v) for v in zip(*values)]

    @staticmethod
    def kept(x):
        return x


for _name in OPERATIONS:
    if not hasattr(ForLoop, _name):
        setattr(ForLoop, _name, staticmethod(exports["Tensor"][_name]))
    setattr(Foreach, _name, staticmethod(exports[""]["_foreach_" + _name]))
Foreach.maximum_ = staticmethod(exports[""]["_foreach_maximum_"])

FOR_LOOP, RECORDED, FOREACH = ForLoop(), Recorded(), Foreach()


# ---- choosing ----------------------------------------------------------------------------------------------

def choose(group):
    """"fused", "foreach" or "for-loop": what the group's options ask for. If they leave it open, foreach where all
    parameters lie on an accelerator, for which one launch for a list pays, else the last.
    """
    if group.get("fused"):
        return "fused"
    if group["foreach"] is None and group.get("fused") is None and not group.get("differentiable"):
        return "foreach" if all(p._device.type in ACCELERATORS for p in group["params"]) else "for-loop"
    return "foreach" if group["foreach"] else "for-loop"


def may_shortcut(group):
    """Whether fused may stand in for a for-loop that nobody asked for and whose operators nobody watches: same numbers,
    sooner. (A profile shows what runs: the fused operator.)"""
    if group["fused"] is not None or group["foreach"] is not None or any([p._keys & PYTHON for p in group["params"]]):
        return False
    return choose(group) == "for-loop" and not (observer.sees_kernels or group["differentiable"])


def check_fused(params):
    """RuntimeError unless the parameters are floating and on a device with fused kernels."""
    for p in params:
        if not (p._dtype.is_floating_point and p._device.type in FUSED_DEVICES):
            raise RuntimeError("`fused=True` requires all the params to be floating point Tensors of "
                               "supported devices:"
                               f" {list(FUSED_DEVICES)} but {p.dtype} and {p.device.type}")


def any_sparse(params):
    """Whether a gradient is in sparse layout."""
    return any([p._meta.grad._storage.__class__ is Entries for p in params])       # inline: every step asks


def by_dtype(params):
    """Lists of positions: the parameters of one device and dtype together."""
    first = params[0]
    if all([p._dtype is first._dtype and p._device == first._device for p in params]):
        return [range(len(params))]
    groups = {}
    for i, p in enumerate(params):
        groups.setdefault((p._device, p._dtype), []).append(i)
    return list(groups.values())


# ---- step counts -------------------------------------------------------------------------------------------

def step_tensor(group, value=0.0):
    """A step count: 0-dim, float32, or float64 where that is the default dtype and no kernel reads it."""
    wide = get_default_dtype() is dt.float64 and not group.get("fused")
    return tensor(value, dtype=dt.float64 if wide else dt.float32)


def advance(step):
    """Add one to a step count and return it as a number. The counts stay with the host: no operator is called."""
    if step._keys & PYTHON:
        return number_of(step.add_(1), 1.0)
    array = array_of(step)
    array += 1
    bump_version(step)
    return array.item()


def number_of(wrapper, if_fake):
    """The number of a tensor whose class computes itself. A fake one has none; as what comes of it has only a shape, any
    will do."""
    return if_fake if hasattr(wrapper, "fake_mode") else wrapper.item()


def set_number(t, value):
    """Write a number into a 0-dim tensor that stays with the host."""
    array_of(t)[...] = value
    bump_version(t)


class RuleOptimizer(Optimizer):
    """An optimizer with an update rule `_rule(do, p, grad, state, steps, group)`.

    `p`, `grad` and the entries of `state` are tensors or, for foreach, lists; `steps` the count(s) of steps
    as numbers, this one included.
    """

    name = ""                                # in messages
    later_options = {"maximize": False, "foreach": None, "differentiable": False, "capturable": False}
    # What must lie on a device that captures graphs, and whether XLA is one: in the for-loop, in foreach.
    captured, captures_xla = ("params and state_steps",) * 2, (True, False)

    @updating
    def step(self, closure=None):
        """Update every parameter that has a gradient; returns the closure's loss."""
        loss = loss_of(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if params:
                (self._update_sparse if any_sparse(params) else self._update)(params, group)
        return loss

    def _update_sparse(self, params, group):
        """A step where some gradients are sparse. RuntimeError: most rules need the elements that are not there."""
        hint = ", please consider SparseAdam instead" if self.name == "Adam" else ""
        raise RuntimeError(f"{self.name} does not support sparse gradients{hint}")

    def _update(self, params, group):
        kind = choose(group)
        if kind == "fused":
            check_fused(params)
        states = [self.state[p] or self._new_state(p, group) for p in params]
        self._check_capturable(group, kind)
        if kind == "fused" or self._shortcut(params, group, kind):
            self._in_groups(self._fused, params, states, group)
        elif kind == "foreach":
            self._refuse_foreach(group)
            self._in_groups(self._foreach, params, states, group)
        else:
            self._for_loop(params, states, group)

    def _in_groups(self, update, params, states, group):
        for positions in by_dtype(params):
            update([params[i] for i in positions], [states[i] for i in positions], group)

    def _for_loop(self, params, states, group):
        do = RECORDED if group.get("differentiable") else FOR_LOOP
        for p, state in zip(params, states):
            self._rule(do, p, p.grad, state, advance(state["step"]), group)

    def _foreach(self, params, states, group):
        columns = {name: [state[name] for state in states] for name in states[0]}
        self._rule(FOREACH, params, [p.grad for p in params], columns, [advance(s) for s in columns["step"]],
                   group)

    def _shortcut(self, params, group, kind):
        return False

    def _refuse_foreach(self, group):
        if group.get("differentiable"):
            raise AssertionError("_foreach ops don't support autograd")

    def _check_capturable(self, group, kind):
        """A graph of device kernels can be captured only where parameters and counts are on such a device."""
        if group.get("capturable") and kind != "fused":
            is_list = kind == "foreach"
            devices = CAPTURABLE_DEVICES.format(", 'xla'" if self.captures_xla[is_list] else "")
            raise AssertionError(f"If capturable=True, {self.captured[is_list]} must be on supported "
                                 f"devices: {devices}.")

    def _new_state(self, p, group):
        state = self.state[p]
        state["step"] = step_tensor(group)
        self._add_state(state, p, group)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self.later_options.items():
                group.setdefault(name, default)
            for p in group["params"]:
                self._restore(self.state.get(p), group)

    def _restore(self, state, group):
        """States saved by old versions of PyTorch have numbers for steps."""
        if state and not isinstance(state["step"], Tensor):
            state["step"] = step_tensor(group, float(state["step"]))


# ---- beginnings that rules share ---------------------------------------------------------------------------

def climbing(do, grad, group):
    """The gradient, negated to maximize."""
    return do.neg(grad) if group["maximize"] else grad


def followed(do, p, grad, group):
    """The gradient, negated to maximize, plus weight_decay * p."""
    grad = climbing(do, grad, group)
    return do.add(grad, p, alpha=group["weight_decay"]) if group["weight_decay"] != 0 else grad


def decayed(do, p, grad, group):
    """As `followed`, but decoupled weight decay shrinks p at once and leaves the gradient."""
    if not group["decoupled_weight_decay"] or group["weight_decay"] == 0:
        return followed(do, p, grad, group)
    do.mul_(p, 1 - number(group["lr"]) * group["weight_decay"])
    return climbing(do, grad, group)


def plus(do, x, number):
    """x + number, of a temporary x: a list is changed in place, so as not to need memory for another."""
    if do.is_list:
        do.add_(x, number)
        return x
    return do.add(x, number)


def over(do, x, number):
    """x / number, of a temporary x; as `plus`."""
    if do.is_list:
        do.div_(x, number)
        return x
    return do.div(x, number)


# ---- checks of options -------------------------------------------------------------------------------------

def check_rate(lr):
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_option("learning rate", lr)


def check_option(name, value):
    if not 0.0 <= value:
        suffix = "" if name == "learning rate" else " value"
        raise ValueError(f"Invalid {name}{suffix}: {value}")


def check_betas(betas):
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_fused_options(fused, foreach, differentiable):
    """RuntimeError for options that exclude each other."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
