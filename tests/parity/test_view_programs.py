"""Random programs of views, in-place operators and assignments, run by both libraries side by side.

After every step all tensors must agree: values, strides, version, base, `requires_grad`, `grad_fn`'s name. So
must the refusals, the gradients at the end, and the gradients of the gradients.
"""

import random
import re

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402

LIBRARIES = (torch, teachtorch)
PROGRAMS, STEPS = 150, 10

VIEWS = {
    "select": lambda m, t: t.select(0, 0),
    "first rows": lambda m, t: t[0:2],
    "last columns": lambda m, t: t[..., 1:],
    "every other": lambda m, t: t[::2],
    "transpose": lambda m, t: t.transpose(0, -1),
    "view": lambda m, t: t.view(-1),
    "unsqueeze": lambda m, t: t.unsqueeze(0),
    "None": lambda m, t: t[None],
    "detach": lambda m, t: t.detach(),
    "diagonal": lambda m, t: t.diagonal(),
    "unbind": lambda m, t: t.unbind(0)[0],
}
WRITES = {
    "mul_": lambda m, t: t.mul_(0.5),
    "add_": lambda m, t: t.add_(1),
    "zero_": lambda m, t: t.zero_(),
    "exp_": lambda m, t: t.mul_(0.1).exp_(),
    "relu_": lambda m, t: t.relu_(),
    "square": lambda m, t: t.mul_(t),
    "[0] = 5": lambda m, t: t.__setitem__(0, 5.0),
    "[...] = 5": lambda m, t: t.__setitem__(Ellipsis, 5.0),
    "[[0, 0]] = 5": lambda m, t: t.__setitem__([0, 0], 5.0),
    "[..., 0] = sum": lambda m, t: t.__setitem__((Ellipsis, 0), t.sum()),
    "index_put_": lambda m, t: t.index_put_((m.tensor([0, 0]),), t.sum(), accumulate=True),
    "masked_fill_": lambda m, t: t.masked_fill_(t.detach() > 2, 2.0),
    "index_add_": lambda m, t: t.index_add_(0, m.tensor([0, 0]), t.detach()[[0, 0]] * 2),
}
FUNCTIONS = {
    "* 2": lambda m, t: t * 2,
    "exp": lambda m, t: (t * 0.1).exp(),
    "square": lambda m, t: t * t,
    "clone": lambda m, t: t.clone(),
    "pick": lambda m, t: t[[0, -1, 0]],
}


class Refusal:
    """What an exception amounts to: its type and the start of its text."""

    def __init__(self, error):
        self.text = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"


def attempt(action):
    try:
        return action()
    except (RuntimeError, IndexError) as error:
        return Refusal(error)


def grad_fn_name(t):
    """The name without its number and namespace: PyTorch numbers overloads, which teachtorch has not."""
    node = attempt(lambda: t.grad_fn)
    if node is None or isinstance(node, Refusal):
        return node and node.text
    return re.sub(r"\d+$", "", node.name().rpartition("::")[2])


def described(t):
    stride = [step for size, step in zip(t.shape, t.stride()) if size != 1]
    return {
        "values": [f"{v:.9g}" for v in t.detach().reshape(-1).tolist()],
        "stride": stride,
        "version": t._version,
        "is view": t._base is not None,
        "requires_grad": t.requires_grad,
        "grad_fn": grad_fn_name(t),
    }


class Program:
    """The same tensors in both libraries, and what happened to them so far."""

    def __init__(self, seed):
        self.choice = random.Random(seed)
        values = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        leaves = [m.tensor(values, dtype=m.float64, requires_grad=True) for m in LIBRARIES]
        plain = [m.tensor([1.0, -2.0, 3.0], dtype=m.float64) for m in LIBRARIES]
        self.pairs = [leaves, plain, [t.clone() for t in leaves], [t * 2 for t in leaves]]
        self.log = []

    def step(self):
        kind, actions = self.choice.choice(
            [("view", VIEWS), ("view", VIEWS), ("write", WRITES), ("write", WRITES), ("call", FUNCTIONS)]
        )
        name, action = self.choice.choice(list(actions.items()))
        number = self.choice.randrange(len(self.pairs))
        without_grad = self.choice.random() < 0.1
        self.log.append(f"{kind} of {number}: {name}{' under no_grad' if without_grad else ''}")
        self.run(number, action, kind, without_grad)

    def run(self, number, action, kind, without_grad):
        found = []
        for m, t in zip(LIBRARIES, self.pairs[number]):
            with m.set_grad_enabled(not without_grad):
                found.append(attempt(lambda m=m, t=t: action(m, t)))
        if any(isinstance(f, Refusal) for f in found):
            theirs, ours = [getattr(f, "text", "fine") for f in found]
            assert ours == theirs, self.log
        elif kind != "write":
            self.pairs.append(found)

    def compare(self):
        for number, (theirs, ours) in enumerate(self.pairs):
            assert described(ours) == described(theirs), (number, self.log)

    def losses(self):
        tracked = [i for i, (theirs, _) in enumerate(self.pairs) if theirs.requires_grad]
        for side in range(2):
            total = 0
            for i in tracked:
                t = self.pairs[i][side]
                part = attempt(lambda t=t, i=i: (t * t * (i + 1)).sum())
                total = total if isinstance(part, Refusal) else total + part
            yield total


def gradients(m, loss, leaf):
    """First and second derivatives, as text."""
    first = m.autograd.grad(loss, leaf, create_graph=True)[0]
    second = (
        m.autograd.grad((first * first).sum(), leaf, allow_unused=True)[0] if first.requires_grad else None
    )
    return [None if g is None else [f"{v:.6g}" for v in g.reshape(-1).tolist()] for g in (first, second)]


@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.filterwarnings("ignore")
def test_random_program(seed):
    program = Program(seed)
    for _ in range(STEPS):
        program.step()
        program.compare()
    theirs, ours = [
        attempt(lambda m=m, loss=loss, leaf=leaf: gradients(m, loss, leaf))
        for m, loss, leaf in zip(LIBRARIES, program.losses(), program.pairs[0])
    ]
    assert getattr(ours, "text", ours) == getattr(theirs, "text", theirs), program.log
