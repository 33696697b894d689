"""L-BFGS: a quasi-Newton method that remembers its last steps instead of a matrix."""
from collections import namedtuple

from ..autograd.grad_mode import enable_grad, no_grad
from ..ops.declare import exports
from ..tensor import Tensor
from .implementations import check_rate
from .optimizer import Optimizer

cat = exports[""]["cat"]

REMEMBERED = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")

# A point of a line search: how far along the direction, the loss, the gradient, and the slope along the
# direction.
Point = namedtuple("Point", "t loss grad slope")


def number_of(loss):
    """A loss as a Python number."""
    return float(loss.detach()) if isinstance(loss, Tensor) else float(loss)


class LBFGS(Optimizer):
    """L-BFGS (Nocedal 1980; the line search of Schmidt's minFunc). `step` needs a closure and calls it many
    times.

    Args:
        lr: the step along the direction, or the first one that the line search tries.
        max_iter, max_eval: iterations and closure calls per step, at most; by default 1.25 * max_iter calls.
        tolerance_grad: the step ends where no element of the gradient is larger.
        tolerance_change: and where the loss or the parameters change by less.
        history_size: how many steps are remembered: memory for twice as many copies of the parameters.
        line_search_fn: "strong_wolfe" or None.

    ValueError for more than one parameter group: all parameters are one vector to it.
    https://pytorch.org/docs/stable/generated/torch.optim.LBFGS.html
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
                 history_size=100, line_search_fn=None):
        check_rate(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self):
        return self.param_groups[0]["params"]

    # ---- parameters as one vector --------------------------------------------------------------------------

    def _flat_gradient(self):
        return cat([p.new_zeros(p.numel()) if p.grad is None else p.grad.to_dense().reshape(-1)
                    for p in self._params],
                   0)

    def _move(self, t, direction):
        """params += t * direction."""
        offset = 0
        for p in self._params:
            p.add_(direction[offset:offset + p.numel()].view_as(p), alpha=t)
            offset += p.numel()

    def _try(self, closure, t, direction):
        """The point t along the direction; the parameters stay where they are."""
        before = [p.clone() for p in self._params]
        self._move(t, direction)
        loss, grad = number_of(closure()), self._flat_gradient()
        for p, kept in zip(self._params, before):
            p.copy_(kept)
        return Point(t, loss, grad, grad.dot(direction))

    # ---- the step ------------------------------------------------------------------------------------------

    @no_grad()
    def step(self, closure):
        """Minimise for up to max_iter iterations; returns the loss of the closure's first call."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        closure, state = recording(closure), self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        state["func_evals"] += 1
        grad = self._flat_gradient()
        if grad.abs().max() > self.param_groups[0]["tolerance_grad"]:
            memory = {name: state.get(name) for name in REMEMBERED}
            self._minimise(closure, number_of(first_loss), grad, state, memory)
            state.update(memory)
        return first_loss

    def _minimise(self, closure, loss, grad, state, memory):
        group = self.param_groups[0]
        lr = group["lr"].squeeze() if isinstance(group["lr"], Tensor) else group["lr"]
        evaluations = 1
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            is_first = state["n_iter"] == 1
            direction = memory["d"] = steepest(grad, memory) if is_first else next_direction(grad, state,
                                                                                             memory, group)
            remember(grad, loss, memory)
            memory["t"] = min(1.0, 1.0 / grad.abs().sum()) * lr if is_first else lr
            slope = grad.dot(direction)
            if slope > -group["tolerance_change"]:
                return
            loss, grad, used = self._advance(closure, Point(0, loss, grad, slope), memory, group, iteration,
                                             group["max_eval"] - evaluations)
            evaluations += used
            state["func_evals"] += used
            if iteration == group["max_iter"] or evaluations >= group["max_eval"]:
                return
            if has_converged(loss, grad, memory, group):
                return

    def _advance(self, closure, start, memory, group, iteration, budget):
        """Move the parameters along the direction; returns (loss, gradient, closure calls)."""
        direction, search = memory["d"], group["line_search_fn"]
        if search is None:
            self._move(memory["t"], direction)
            if iteration == group["max_iter"]:
                return start.loss, start.grad, 0              # nobody will read the new ones
            return number_of(closure()), self._flat_gradient(), 1
        if search != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        found, used = strong_wolfe(lambda t: self._try(closure, t, direction), start, memory["t"],
                                   direction.abs().max(), budget)
        memory["t"] = found.t
        self._move(found.t, direction)
        return found.loss, found.grad, used


def recording(closure):
    """The closure, called with grad mode on."""
    def call():
        with enable_grad():
            return closure()
    return call


# ---- directions --------------------------------------------------------------------------------------------

def steepest(grad, memory):
    """The first direction: steepest descent."""
    memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
    return grad.neg()


def remember(grad, loss, memory):
    if memory["prev_flat_grad"] is None:
        memory["prev_flat_grad"] = grad.clone()
    else:
        memory["prev_flat_grad"].copy_(grad)
    memory["prev_loss"] = loss


def next_direction(grad, state, memory, group):
    """The gradient times an approximate inverse Hessian, by the two loops over the remembered steps."""
    add_step(grad, memory, group["history_size"])
    changes, steps, ro = memory["old_dirs"], memory["old_stps"], memory["ro"]
    alphas = state.setdefault("al", [None] * group["history_size"])
    direction = grad.neg()
    for i in reversed(range(len(changes))):
        alphas[i] = steps[i].dot(direction) * ro[i]
        direction.add_(changes[i], alpha=-alphas[i])
    direction = direction * memory["H_diag"]
    for i in range(len(changes)):
        beta = changes[i].dot(direction) * ro[i]
        direction.add_(steps[i], alpha=alphas[i] - beta)
    return direction


def add_step(grad, memory, history_size):
    """Remember how the last step changed parameters and gradient, unless the curvature along it was not positive."""
    change, step = grad.sub(memory["prev_flat_grad"]), memory["d"].mul(memory["t"])
    curvature = change.dot(step)
    if not curvature > 1e-10:
        return
    if len(memory["old_dirs"]) == history_size:
        for name in ("old_dirs", "old_stps", "ro"):
            memory[name].pop(0)
    memory["old_dirs"].append(change)
    memory["old_stps"].append(step)
    memory["ro"].append(1.0 / curvature)
    memory["H_diag"] = curvature / change.dot(change)


def has_converged(loss, grad, memory, group):
    if grad.abs().max() <= group["tolerance_grad"]:
        return True
    smallest = group["tolerance_change"]
    return memory["d"].mul(memory["t"]).abs().max() <= smallest or abs(loss - memory["prev_loss"]) < smallest


# ---- line search -------------------------------------------------------------------------------------------

C1, C2, SMALLEST = 1e-4, 0.9, 1e-9


def strong_wolfe(evaluate, start, t, length, budget):
    """(a point that satisfies the strong Wolfe conditions, or the lowest one found; evaluations).

    `evaluate(t)`: the Point there. `length`: the direction's largest element. `budget`: tries after the first
    one.
    """
    previous, current, tries = start, evaluate(t), 0
    while tries < budget:
        if is_too_high(current, start) or (tries > 1 and current.loss >= previous.loss):
            return zoom(evaluate, start, [previous, current], length, tries, budget)
        if is_flat_enough(current, start):
            return current, tries + 1
        if current.slope >= 0:
            return zoom(evaluate, start, [previous, current], length, tries, budget)
        bounds = (current.t + 0.01 * (current.t - previous.t), current.t * 10)
        t = lowest_of_cubic(previous, current, bounds)
        previous, current, tries = current, evaluate(t), tries + 1
    return min(start, current, key=lambda point: point.loss), tries + 1


def is_too_high(point, start):
    """Armijo: the loss must fall at least a little of what the slope promised."""
    return point.loss > start.loss + C1 * point.t * start.slope


def is_flat_enough(point, start):
    return abs(point.slope) <= -C2 * start.slope


def zoom(evaluate, start, bracket, length, tries, budget):
    """Narrow a bracket around a point that satisfies the conditions; (the point, evaluations)."""
    low, high = in_order(bracket)
    was_stuck = False
    while tries < budget and not abs(bracket[1].t - bracket[0].t) * length < SMALLEST:
        t, was_stuck = inside(lowest_of_cubic(*bracket), bracket, was_stuck)
        point, tries = evaluate(t), tries + 1
        if is_too_high(point, start) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = in_order(bracket)
            continue
        done = is_flat_enough(point, start)
        if not done and point.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if done:
            break
    return bracket[low], tries + 1


def in_order(bracket):
    return (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)


def inside(t, bracket, was_stuck):
    """(t, whether it was close to an end of the bracket): twice close, or outside, and it moves a tenth inwards."""
    ends = [bracket[0].t, bracket[1].t]
    margin = 0.1 * (max(ends) - min(ends))
    if not min(max(ends) - t, t - min(ends)) < margin:
        return t, False
    if not (was_stuck or t >= max(ends) or t <= min(ends)):
        return t, True
    return (max(ends) - margin if abs(t - max(ends)) < abs(t - min(ends)) else min(ends) + margin), False


def lowest_of_cubic(a, b, bounds=None):
    """Where the cubic through two points with their slopes is lowest, within `bounds` (by default the points)."""
    if not a.t <= b.t:
        a, b = b, a
    smallest, largest = bounds or (a.t, b.t)
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 ** 2 - a.slope * b.slope
    if not square >= 0:
        return (smallest + largest) / 2.0
    d2 = square.sqrt()
    lowest = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(lowest, smallest), largest)
