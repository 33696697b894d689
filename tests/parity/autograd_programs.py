"""Small random programs over a few tensors, which PyTorch and teachtorch run one after the other.

A program is a list of instructions `(name, a, b, k)`: the name of an action, the numbers of two variables and a free
number. All numbers are taken modulo what there is to choose from, so that any numbers make a program. Running one
yields a trace: what each instruction returned or raised, what the hooks saw, and in the end all that can be observed
of every variable. Two libraries agree if their traces do.
"""
import re
import warnings

import numpy as np

SHAPES = [(2, 3), (3,), (), (2, 1), (3, 2), (2, 3), (2, 2, 2), (1,), (0, 3)]
MOST_VARIABLES = 9


class Machine:
    """The variables of one library, its grad modes and its trace."""

    def __init__(self, library):
        self.library = library
        self.variables = []
        self.modes = []
        self.handles = []
        self.trace = []
        self.step = 0

    def run(self, program):
        for shape_number in (0, 1, 4):
            self.keep(leaf(self, None, None, shape_number))
        for self.step, instruction in enumerate(program):
            self.execute(*instruction)
        while self.modes:
            leave_mode(self, None, None, 0)
        self.step = "end"
        for variable in self.variables:
            self.note("state", attempt(lambda t=variable: state_of(t)))
        return self.trace

    def execute(self, name, a, b, k):
        t = self.variables[a % len(self.variables)]
        u = self.variables[b % len(self.variables)]
        if name in WRITES and not may_write(t, u):
            return
        found = attempt(lambda: ACTIONS[name](self, t, u, k))
        self.note(name, found if isinstance(found, Refusal) else "done")
        for result in found if isinstance(found, (list, tuple)) else (found,):
            if isinstance(result, self.library.Tensor):
                self.keep(result)

    def keep(self, t):
        """Make a result a variable; when there are many, it takes an older one's place."""
        self.note("result", glance(t))
        if any(t is v for v in self.variables):
            return
        if len(self.variables) < MOST_VARIABLES:
            self.variables.append(t)
        else:
            self.variables[self.step % MOST_VARIABLES] = t

    def note(self, what, seen):
        self.trace.append((self.step, what, seen))

    def number_of(self, t):
        return next((i for i, v in enumerate(self.variables) if v is t), None)


def may_write(t, u):
    """Whether what `t` becomes is defined. What two tensors over the same memory do to each other is not, and
    gradients of integers are nobody's business."""
    share = t.untyped_storage().data_ptr() == u.untyped_storage().data_ptr()
    return (t is u or not share or t.numel() == 0) and t.is_floating_point() and u.is_floating_point()


class Refusal:
    """What an exception amounts to: its type and, where PyTorch's users know them, its words."""

    def __init__(self, error):
        self.kind = type(error).__name__
        self.text = str(error).strip().split("\n")[0]

    def __eq__(self, other):
        return isinstance(other, Refusal) and self.kind == other.kind

    def __repr__(self):
        return f"{self.kind}: {self.text[:160]}"


def attempt(action):
    try:
        return action()
    except Exception as error:          # the trace holds every error: comparing them is the point
        return Refusal(error)


# ---- what is observed -------------------------------------------------------------------------------------------

def glance(t):
    """What can be seen of a tensor without asking for its grad_fn."""
    return tuple(t.shape), str(t.dtype).rpartition(".")[2], t._version


def state_of(t):
    """All that can be seen of a tensor."""
    return {"values": values_of(t), "stride": strides_of(t), "requires_grad": t.requires_grad,
            "is_leaf": attempt(lambda: t.is_leaf), "grad_fn": attempt(lambda: graph_of(t.grad_fn, 3)),
            "output_nr": t.output_nr, "version": t._version, "is_view": t._base is not None,
            "retains": t.retains_grad, "grad": gradient_of(t)}


def values_of(t):
    return np.array(t.detach().tolist(), dtype=np.float32 if str(t.dtype) == "torch.float32" else np.float64)


def strides_of(t):
    """The strides of the dimensions that have neighbours."""
    return [stride for size, stride in zip(t.shape, t.stride()) if size > 1]


def gradient_of(t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = t.grad
    if grad is None:
        return None
    return {"values": values_of(grad), "stride": strides_of(grad), "requires_grad": grad.requires_grad,
            "grad_fn": attempt(lambda: name_of(grad.grad_fn))}


def name_of(node):
    """A node's name without namespace and number: PyTorch numbers an operator's overloads."""
    if node is None:
        return None
    name = re.sub(r"\d+$", "", node.name().rpartition("::")[2])
    return SAME_NODES.get(name, name)


# Nodes that differ in name alone: how a contiguous result gets its shape, how the gradient of as_strided is made.
SAME_NODES = {"ReshapeAliasBackward": "ViewBackward", "UnsafeViewBackward": "ViewBackward",
              "AsStridedBackwardBackward": "AsStridedBackward"}


def graph_of(node, depth):
    """The names of a node and of those it leads to, as far as `depth` edges."""
    if node is None or depth == 0:
        return name_of(node)
    return name_of(node), [(graph_of(child, depth - 1), nr) for child, nr in node.next_functions]


# ---- comparing --------------------------------------------------------------------------------------------------

def difference(expected, found):
    """The first place where two traces differ, in words; None if they agree."""
    for theirs, ours in zip(expected, found):
        if isinstance(theirs[2], Refusal) and "INTERNAL ASSERT" in theirs[2].text:
            return None                 # PyTorch found a bug of its own
        if not agree(theirs, ours):
            return f"at step {theirs[0]}, {theirs[1]}:\n  expected {theirs[2]}\n  found    {ours[2]} ({ours[1]})"
    return None if len(expected) == len(found) else "one trace is longer"


def agree(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        rtol, atol = (1e-4, 1e-5) if a.dtype == np.float32 else (1e-6, 1e-8)
        return a.shape == b.shape and np.allclose(settled(a), settled(b), rtol=rtol, atol=atol, equal_nan=True)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(agree(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)) and type(a) is type(b):
        return len(a) == len(b) and all(map(agree, a, b))
    return type(a) is type(b) and a == b


def settled(values):
    """Values beyond all reason count as infinite: rounding decides when they overflow."""
    return np.where(np.abs(values) > 1e25, np.inf, values)


# ---- making tensors ---------------------------------------------------------------------------------------------

def leaf(machine, t, u, k):
    shape = SHAPES[k % len(SHAPES)]
    values = (np.arange(int(np.prod(shape))) * 7 % 11 - 4.0 + k % 3) / 4
    made = machine.library.tensor(values.reshape(shape).tolist(), dtype=machine.library.float64)
    return made.reshape(shape).detach().requires_grad_(k % 4 != 3)


def strided_leaf(machine, t, u, k):
    values = machine.library.arange(6, dtype=machine.library.float64).reshape(3, 2)
    return values.t().detach().requires_grad_(k % 3 != 2)


def dim_of(t, k):
    return k % t.dim() if t.dim() else 0


def size_of(t, k):
    return t.shape[dim_of(t, k)] if t.dim() else 1


VIEWS = {
    "select": lambda m, t, u, k: t.select(dim_of(t, k), k % max(size_of(t, k), 1)),
    "first": lambda m, t, u, k: t[0],
    "narrow": lambda m, t, u, k: t.narrow(dim_of(t, k), min(k % 2, size_of(t, k)), max(size_of(t, k) - k % 2, 0)),
    "slice": lambda m, t, u, k: t[..., k % 2::1 + k % 3],
    "rows": lambda m, t, u, k: t[k % 2:],
    "none": lambda m, t, u, k: t[None],
    "ellipsis": lambda m, t, u, k: t[...],
    "transpose": lambda m, t, u, k: t.transpose(0, dim_of(t, k)),
    "t": lambda m, t, u, k: t.t(),
    "permute": lambda m, t, u, k: t.permute(*reversed(range(t.dim()))),
    "unsqueeze": lambda m, t, u, k: t.unsqueeze(k % (t.dim() + 1)),
    "squeeze": lambda m, t, u, k: t.squeeze() if k % 2 else t.squeeze(dim_of(t, k)),
    "expand": lambda m, t, u, k: t.expand(2, *t.shape),
    "expand_as": lambda m, t, u, k: t.expand_as(u),
    "view": lambda m, t, u, k: t.view(-1),
    "view_as": lambda m, t, u, k: t.view_as(u if k % 3 == 0 else t),
    "reshape": lambda m, t, u, k: t.reshape(-1, 1) if k % 2 else t.reshape(-1),
    "flatten": lambda m, t, u, k: t.flatten(),
    "diagonal": lambda m, t, u, k: t.diagonal(),
    "unfold": lambda m, t, u, k: t.unfold(dim_of(t, k), 2, 2),
    "movedim": lambda m, t, u, k: t.movedim(0, -1) if t.dim() else None,
    "as_strided": lambda m, t, u, k: t.as_strided((2,), (1 + k % 2,)),
    "detach": lambda m, t, u, k: t.detach(),
    "data": lambda m, t, u, k: t.data,
}
SEVERAL_VIEWS = {
    "unbind": lambda m, t, u, k: t.unbind(dim_of(t, k))[:2],
    "split": lambda m, t, u, k: t.split(1 + k % 2, dim_of(t, k))[:2],
    "chunk": lambda m, t, u, k: t.chunk(2, dim_of(t, k)),
}
FUNCTIONS = {
    "neg": lambda m, t, u, k: -t,
    "exp": lambda m, t, u, k: (t * 0.1).exp(),
    "sin": lambda m, t, u, k: t.sin(),
    "tanh": lambda m, t, u, k: t.tanh(),
    "relu": lambda m, t, u, k: t.relu(),
    "sigmoid": lambda m, t, u, k: t.sigmoid(),
    "abs": lambda m, t, u, k: t.abs(),
    "clone": lambda m, t, u, k: t.clone(),
    "contiguous": lambda m, t, u, k: t.contiguous(),
    "to same": lambda m, t, u, k: t.to(m.library.float64),
    "float": lambda m, t, u, k: t.float(),
    "square": lambda m, t, u, k: t * t,
    "power": lambda m, t, u, k: t ** 2,
    "scale": lambda m, t, u, k: t * (k % 3 - 1),
    "shift": lambda m, t, u, k: 1.5 - t if k % 2 else t + 2,
    "add": lambda m, t, u, k: t + u,
    "add alpha": lambda m, t, u, k: m.library.add(t, u, alpha=3),
    "sub": lambda m, t, u, k: t - u,
    "mul": lambda m, t, u, k: t * u,
    "div": lambda m, t, u, k: t / (u * u + 1),
    "maximum": lambda m, t, u, k: m.library.maximum(t, u),
    "where": lambda m, t, u, k: m.library.where(t.detach() > 0, t, u),
    "sum": lambda m, t, u, k: t.sum() if k % 2 else t.sum(dim_of(t, k)),
    "mean": lambda m, t, u, k: t.mean(),
    "max": lambda m, t, u, k: t.max(dim_of(t, k)).values if k % 2 else t.max(),
    "sort": lambda m, t, u, k: (t + 0).sort(dim_of(t, k))[0],
    "cumsum": lambda m, t, u, k: t.cumsum(dim_of(t, k)),
    "matmul": lambda m, t, u, k: (t @ u) + 0 if t.dim() < 3 and u.dim() < 3 else None,
    "gram": lambda m, t, u, k: (t @ t.transpose(-1, -2)) + 0,
    "cat": lambda m, t, u, k: m.library.cat([t, u]),
    "stack": lambda m, t, u, k: m.library.stack([t, u, t]),
    "pick": lambda m, t, u, k: t[[0, -1, 0]],
    "masked": lambda m, t, u, k: t[t.detach() > 0],
    "gather": lambda m, t, u, k: t.index_select(0, m.library.tensor([0, 0])) if t.numel() else None,
    "softmax": lambda m, t, u, k: t.softmax(-1),
    "var": lambda m, t, u, k: t.var(),
    "clamp": lambda m, t, u, k: t.clamp(-0.6, 0.8),
    "zeros_like": lambda m, t, u, k: m.library.zeros_like(t),
}
WRITES = {
    "add_": lambda m, t, u, k: t.add_(1),
    "mul_": lambda m, t, u, k: t.mul_(0.5),
    "add_ tensor": lambda m, t, u, k: t.add_(u),
    "sub_ alpha": lambda m, t, u, k: t.sub_(u, alpha=2),
    "mul_ tensor": lambda m, t, u, k: t.mul_(u),
    "div_ tensor": lambda m, t, u, k: t.div_(u * u + 1),
    "square_": lambda m, t, u, k: t.mul_(t),
    "exp_": lambda m, t, u, k: t.clamp_(max=2).exp_(),
    "sin_": lambda m, t, u, k: t.sin_(),
    "tanh_": lambda m, t, u, k: t.tanh_(),
    "relu_": lambda m, t, u, k: t.relu_(),
    "sigmoid_": lambda m, t, u, k: t.sigmoid_(),
    "neg_": lambda m, t, u, k: t.neg_(),
    "zero_": lambda m, t, u, k: t.zero_(),
    "fill_": lambda m, t, u, k: t.fill_(0.5),
    "copy_": lambda m, t, u, k: t.copy_(u),
    "clamp_": lambda m, t, u, k: t.clamp_(-1, 1),
    "addcmul_": lambda m, t, u, k: t.addcmul_(u, u, value=0.5),
    "lerp_": lambda m, t, u, k: t.lerp_(u, 0.25),
    "masked_fill_": lambda m, t, u, k: t.masked_fill_(t.detach() > 0.5, 0.25),
    "cumsum_": lambda m, t, u, k: t.cumsum_(0),
    "index_add_": lambda m, t, u, k: t.index_add_(0, m.library.tensor([0, 0]), t.detach()[[0, 0]] * 2),
    "[0] = number": lambda m, t, u, k: t.__setitem__(0, 5.0),
    "[0] = tensor": lambda m, t, u, k: t.__setitem__(0, u[0]),
    "[...] = tensor": lambda m, t, u, k: t.__setitem__(Ellipsis, u),
    "[..., 0] = sum": lambda m, t, u, k: t.__setitem__((Ellipsis, 0), u.sum()),
    "[mask] = number": lambda m, t, u, k: t.__setitem__(t.detach() > 0, 0.5),
    "data.mul_": lambda m, t, u, k: t.data.mul_(0.5),
    "unsqueeze_": lambda m, t, u, k: t.unsqueeze_(0) if t.dim() < 3 else None,
    "squeeze_": lambda m, t, u, k: t.squeeze_(),
    "t_": lambda m, t, u, k: t.t_(),
    "transpose_": lambda m, t, u, k: t.transpose_(0, -1),
    "detach_": lambda m, t, u, k: t.detach_(),
    "out=": lambda m, t, u, k: (
        m.library.mul(t, u, out=u) if k % 2 and t.shape == u.shape else m.library.sin(t.detach(), out=t)
    ),
}


# ---- grad modes, flags, hooks -----------------------------------------------------------------------------------

def enter_mode(machine, t, u, k):
    library = machine.library
    mode = library.enable_grad() if k % 3 == 0 else library.no_grad() if k % 3 == 1 else library.set_grad_enabled(False)
    mode.__enter__()
    machine.modes.append(mode)


def leave_mode(machine, t, u, k):
    if machine.modes:
        machine.modes.pop().__exit__(None, None, None)


def observe(machine, t, u, k):
    machine.note("seen", state_of(t))


def set_flag(machine, t, u, k):
    t.requires_grad_(k % 2 == 0)


def is_loose_view(t):
    """A leaf that is a view: if only its base requires grad, PyTorch crashes when it is given a hook."""
    return t._base is not None and attempt(lambda: t.grad_fn) is None


def hook_tensor(machine, t, u, k):
    """A hook that notes the gradient, and one time in three changes it."""
    if is_loose_view(t):
        return
    name = f"tensor hook {machine.step}"

    def hook(grad):
        machine.note(name, shown([grad]))
        return grad * 2 if k % 3 == 0 and grad is not None else None
    machine.handles.append(t.register_hook(hook))


def hook_accumulation(machine, t, u, k):
    if is_loose_view(t):
        return
    name = f"accumulated {machine.step}"
    machine.handles.append(t.register_post_accumulate_grad_hook(lambda v: machine.note(name, values_of(v.grad))))


def hook_node(machine, t, u, k):
    if t.grad_fn is None:
        return
    name = f"node hook {machine.step}"
    if k % 2:
        machine.handles.append(t.grad_fn.register_prehook(lambda grads: machine.note(name, shown(grads))))
    else:
        machine.handles.append(t.grad_fn.register_hook(
            lambda grad_inputs, grads: machine.note(name, [shown(grad_inputs), shown(grads)])))


def shown(grads):
    return [None if g is None else values_of(g) for g in grads]


def remove_hook(machine, t, u, k):
    if machine.handles:
        machine.handles.pop(k % len(machine.handles)).remove()


def reset_grad(machine, t, u, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if k % 2 or t.grad is None:
            t.grad = None
        else:
            t.grad.zero_()


FLAGS = {
    "leaf": leaf, "strided leaf": strided_leaf, "enter": enter_mode, "leave": leave_mode, "observe": observe,
    "requires_grad_": set_flag, "retain_grad": lambda m, t, u, k: t.retain_grad(), "hook": hook_tensor,
    "accumulation hook": hook_accumulation, "node hook": hook_node, "remove hook": remove_hook,
    "reset grad": reset_grad,
}


# ---- backward ---------------------------------------------------------------------------------------------------

def scalar(t):
    return t if t.numel() == 1 else t.sum()


def backward(machine, t, u, k):
    scalar(t).backward(retain_graph=k % 2 == 0)


def backward_with_gradient(machine, t, u, k):
    t.backward(machine.library.ones_like(t) * 2, retain_graph=k % 2 == 0)


def backward_plain(machine, t, u, k):
    t.backward()


def backward_of_both(machine, t, u, k):
    machine.library.autograd.backward([scalar(t), scalar(u)], retain_graph=k % 2 == 0)


def backward_into(machine, t, u, k):
    scalar(t).backward(inputs=[u], retain_graph=k % 2 == 0)


def backward_create_graph(machine, t, u, k):
    scalar(t * t).backward(create_graph=True)


def grad_of(machine, t, u, k):
    """autograd.grad with options; the gradients become variables, to be differentiated again."""
    other = machine.variables[k % len(machine.variables)]
    inputs = [u] if k % 2 else [u, other]
    options = {"create_graph": k % 3 == 0, "allow_unused": (None, True)[k // 3 % 2]}
    if k % 5 == 0:
        options = {"materialize_grads": True, "retain_graph": True}
    return fresh(machine.library.autograd.grad(scalar(t), inputs, **options))


def fresh(gradients):
    """Gradients as results of additions: libraries may differ in the operators that a gradient is made with."""
    return [g + 0 + 0 + 0 for g in gradients if g is not None]


def grad_twice(machine, t, u, k):
    first, = machine.library.autograd.grad((t * t).sum(), u, create_graph=True)
    return fresh(machine.library.autograd.grad((first * first).sum(), u, allow_unused=True))


BACKWARDS = {
    "backward": backward, "backward with gradient": backward_with_gradient, "backward plain": backward_plain,
    "backward of both": backward_of_both, "backward into": backward_into, "grad": grad_of, "grad twice": grad_twice,
    "backward create_graph": backward_create_graph,
}


# ---- Functions of the user's own --------------------------------------------------------------------------------

def functions_of(library):
    """One Function of each kind that the engine treats in its own way."""
    base = library.autograd.Function

    class Twice(base):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Sine(base):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            return grad * x.cos()

    class DoubleInPlace(base):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Same(base):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    class ViewOfInput(base):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad.sum() * 0 + 1

    class SumAndCount(base):
        @staticmethod
        def forward(ctx, x, y):
            count = (x > 0).to(library.int64)
            return x * 2, count, y + 1

        @staticmethod
        def backward(ctx, grad_x, grad_count, grad_y):
            return grad_x * 2, grad_y * 3

    return {"Twice": Twice, "Sine": Sine, "DoubleInPlace": DoubleInPlace, "Same": Same, "ViewOfInput": ViewOfInput,
            "SumAndCount": SumAndCount}


_functions = {}


def custom(name, both=False):
    def call(machine, t, u, k):
        functions = _functions.get(machine.library) or functions_of(machine.library)
        _functions[machine.library] = functions
        if name == "DoubleInPlace":
            t.grad = None           # where the call is refused, PyTorch has sometimes reset it already
        return functions[name].apply(t, u) if both else functions[name].apply(t)
    return call


CUSTOM = {name: custom(name) for name in ("Twice", "Sine", "DoubleInPlace", "Same", "ViewOfInput")}
CUSTOM["SumAndCount"] = custom("SumAndCount", both=True)

# Each kind of action and how often it is chosen.
KINDS = [(VIEWS, 7), (SEVERAL_VIEWS, 1), (FUNCTIONS, 6), (WRITES, 8), (FLAGS, 6), (BACKWARDS, 5), (CUSTOM, 1)]
ACTIONS = {name: action for kind, _ in KINDS for name, action in kind.items()}
CHOICES = [list(kind) for kind, weight in KINDS for _ in range(weight)]


def instruction(choose):
    """One instruction; `choose(n)` picks a number below n."""
    names = CHOICES[choose(len(CHOICES))]
    return names[choose(len(names))], choose(MOST_VARIABLES), choose(MOST_VARIABLES), choose(30)


def traces(libraries, program):
    """The trace of the program in each library."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return [Machine(library).run(program) for library in libraries]
