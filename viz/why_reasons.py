"""The seven reasons for ``.grad`` being None: which it is, which are ruled out, which cannot be told."""

from dataclasses import dataclass, field

from viz.tensors import dtype_name
from viz.why_facts import made_under_no_grad

REASONS = {
    "nonleaf": "not a leaf, no retain_grad()",
    "detach": "cut by detach()",
    "no_grad": "made under no_grad()",
    "needs_none": "needs no gradient",
    "unreached": "not reached from the loss",
    "no_backward": "backward() has not run",
    "reset": "set to None, or another tensor now",
}


@dataclass
class Answer:
    """cause: key of REASONS, or "" if several are possible. sentences: the answer. fix: lines of code.

    checks: {key: (verdict, why)}, verdict "cause", "possible" or "no". broken: what the broken link says.
    """

    cause: str
    sentences: list
    fix: list
    checks: dict = field(default_factory=dict)
    broken: str = ""


def answer(facts):
    """The ``Answer`` for ``Facts`` about a tensor whose .grad is None."""
    found = _about(facts)
    rest = _ruled_out(facts)
    found.checks = {key: found.checks.get(key, ("no", rest[key])) for key in REASONS}
    return found


def _about(facts):
    if not facts.t.requires_grad:
        return _needs_none(facts)
    if made_under_no_grad(facts.t):
        return _no_grad_view(facts)
    if facts.loss is not None and not facts.loss.requires_grad:
        return _loss_without_graph(facts)
    if facts.loss is not None and facts.place is None:
        return _unreached(facts)
    if not facts.t.is_leaf and not getattr(facts.t, "retains_grad", False):
        return _nonleaf(facts)
    return _reached(facts) if facts.loss is not None else _without_loss(facts)


def _one(cause, sentences, fix, why, broken, **others):
    return Answer(cause, sentences, fix, {cause: ("cause", why), **others}, broken)


# requires_grad is False


def _needs_none(facts):
    t, name = facts.t, facts.name(facts.t)
    if not _can_carry(t):
        kind = dtype_name(t.dtype)
        return _one(
            "needs_none",
            [f"{name} is {kind}, and only floating point and complex tensors carry a gradient."],
            [f"{_code(facts)} = {_code(facts)}.float().requires_grad_()   # before the forward pass"],
            f"{kind} cannot carry a gradient",
            f"{kind} carries no gradient",
        )
    return _inference(facts) or _frozen(facts) or _detached(facts) or _plain(facts)


def _can_carry(t):
    return t.dtype.is_floating_point or getattr(t.dtype, "is_complex", False)


def _inference(facts):
    if not getattr(facts.t, "is_inference", lambda: False)():
        return None
    return _one(
        "no_grad",
        [f"{facts.name(facts.t)} was made under inference_mode(), so no graph was recorded."],
        ["# compute it outside inference_mode(); no_grad() would lose the graph too"],
        "it is an inference tensor",
        "inference_mode()",
    )


def _no_grad_view(facts):
    name, whole = facts.name(facts.t), facts.name(facts.t._base, "a tensor that requires grad")
    return _one(
        "no_grad",
        [
            (
                f"{name} is a view of {whole} that was made under no_grad(). It says requires_grad=True, as {whole} "
                "does, but the graph does not know it, so no gradient ever comes here."
            )
        ],
        [f"# make the view outside `with no_grad():`, or use {whole} itself"],
        f"a view of {whole} with requires_grad=True and without grad_fn",
        "no_grad()",
    )


def _frozen(facts):
    if "Parameter" not in {cls.__name__ for cls in type(facts.t).__mro__}:
        return None
    return _one(
        "needs_none",
        [f"{facts.name(facts.t)} is a parameter with requires_grad=False: it is frozen."],
        [f"{_code(facts)}.requires_grad_()   # before the forward pass"],
        "a parameter requires grad unless somebody turned it off",
        "frozen",
    )


def _detached(facts):
    if facts.twin is None:
        return None
    name, source = facts.name(facts.t), facts.name(facts.twin, "a tensor that requires grad")
    return _one(
        "detach",
        [
            (
                f"{name} shares its memory with {source}, which requires grad, but {name} has no graph: it was made by "
                "detach() or .data (the two look alike afterwards)."
            )
        ],
        [f"# use {source} itself where gradients should flow"],
        f"same memory as {source}, no graph",
        "detach()",
    )


def _plain(facts):
    name, code = facts.name(facts.t), _code(facts)
    held = _held_instead(facts)
    return Answer(
        "",
        [
            f"{name}.requires_grad is False and {name}.grad_fn is None, so backward() never comes here.",
            "How it got there leaves no trace: the possible causes below look alike afterwards.",
        ],
        [f"{code}.requires_grad_()   # before the forward pass, if you created it", *_rebound_fix(code, held)],
        {
            "needs_none": ("possible", "created without requires_grad=True, or computed only from such tensors"),
            "detach": ("possible", "detach(), .data, .item() or NumPy, of a tensor that is gone or was copied"),
            "no_grad": ("possible", "computed under no_grad()"),
            "reset": ("possible", held or f"`{code} = {code} - ...` under no_grad() makes a new tensor"),
        },
        "no graph",
    )


def _held_instead(facts):
    """An optimizer that holds a nameless tensor of this shape still updates the old one."""
    for name, params in facts.holders:
        for p in params:
            if tuple(p.shape) == tuple(facts.t.shape) and p is not facts.t and not facts.names.of(p):
                return f"{name} still holds another tensor of this shape, which has no name any more"
    return ""


def _rebound_fix(code, held):
    return [f"{code}.sub_(...)   # under no_grad(): changes the tensor that the optimizer holds"] if held else []


def _code(facts):
    known = facts.names.of(facts.t)
    return known[0] if known else "t"


# The loss does not reach t


def _loss_without_graph(facts):
    loss, name = facts.name(facts.loss, "the loss"), facts.name(facts.t)
    return Answer(
        "unreached",
        [
            (
                f"{loss} itself requires no grad: it has no graph, so it reaches nothing, and "
                f"{loss}.backward() raises "
                "a RuntimeError."
            ),
            "What ended its graph leaves no trace: detach(), no_grad() or inputs without requires_grad=True.",
        ],
        [f"# compute {loss} from {name} outside no_grad(), without detach(), .item() or NumPy"],
        {
            "unreached": ("cause", f"{loss}.grad_fn is None"),
            "detach": ("possible", f"detach(), .data, .item() or NumPy on the way to {loss}"),
            "no_grad": ("possible", f"{loss} was computed under no_grad()"),
        },
        "no graph",
    )


def _unreached(facts):
    if facts.cut is not None and facts.cut.node is not None:
        return _cut_link(facts)
    if facts.ghost is not None and not facts.t.is_leaf:
        return _rebound(facts)
    loss, name = facts.name(facts.loss, "the loss"), facts.name(facts.t)
    checks = {
        "unreached": ("cause", f"no path of the graph of {loss} ends at {name}"),
        "detach": (
            "possible",
            _suspect(facts, False) or f"a detach(), .data, .item() or NumPy between {name} and {loss}",
        ),
        "no_grad": ("possible", _suspect(facts, True) or f"a step between {name} and {loss} under no_grad()"),
    }
    if facts.ghost is not None:
        checks["reset"] = ("possible", f"{loss} reaches a nameless leaf of the same shape: perhaps an earlier {name}")
    return Answer(
        "unreached",
        [
            f"{loss} does not depend on {name} as far as its graph knows: backward() from {loss} never comes here.",
            "Whether it was never used, or its path was cut, cannot be told afterwards: a cut leaves no node.",
            *[f"A hint: {hint}." for hint in (_suspect(facts, False) or _suspect(facts, True),) if hint],
        ],
        [f"# {loss} must be computed from {name}, every step outside no_grad() and without detach()"],
        checks,
        "no path",
    )


def _cut_link(facts):
    cut, name, loss = facts.cut, facts.name(facts.t), facts.name(facts.loss, "the loss")
    source, piece = facts.name(cut.source, "a tensor"), facts.name(cut.piece, "")
    node = facts.graph.name(cut.node)
    cause = "no_grad" if cut.is_view else "detach"
    how = "is a view made under no_grad()" if cut.is_view else "was made by detach() or .data"
    where = "as a leaf" if facts.graph.is_leaf(cut.node) else f"saved by {node}"
    instead = f"instead of {piece}" if piece else "itself"
    return _one(
        cause,
        [
            (
                f"{loss} uses {piece or 'a tensor'} ({where}), which has the memory of {source} but not its graph: it "
                f"{how}. The path from {loss} to {name} ends there."
            )
        ],
        [f"# use {source} {instead} where {loss} should reach {name}"],
        f"{piece or 'a tensor'} has the memory of {source}, without its graph",
        "no_grad()" if cut.is_view else "detach()",
    )


def _suspect(facts, is_view):
    """What a living tensor suggests when the loss is not known to have used it."""
    if facts.cut is None or facts.cut.is_view != is_view:
        return ""
    piece, source = (facts.name(facts.cut.piece, "a nameless tensor"), facts.name(facts.cut.source, "a result of it"))
    where = f"if the loss used {piece}, the path ended there"
    return f"{piece} has the memory of {source} without its graph: {where}"


def _rebound(facts):
    name, loss, code = facts.name(facts.t), facts.name(facts.loss, "the loss"), _code(facts)
    held = [n for n, params in facts.holders if any(p is facts.ghost for p in params)]
    keeps = f" {held[0]} still holds that one." if held else ""
    state = "its .grad is there" if facts.ghost.grad is not None else "its .grad is None too"
    return _one(
        "reset",
        [
            (
                f"The name {name} now means another tensor, the result of {_maker(facts.t)}. {loss} was computed from "
                f"the leaf that had the name before; that leaf has no name any more, and {state}.{keeps}"
            )
        ],
        [f"{code}2 = ...   # give the result a new name, so that {code} stays the leaf"],
        f"{name} is a result; the leaf below it, which {loss} reaches, has no name",
        "another tensor has the name",
    )


def _maker(t):
    return t.grad_fn.name().rsplit("::", 1)[-1]


# The loss reaches t


def _nonleaf(facts):
    name, code = facts.name(facts.t), _code(facts)
    sentences = [
        (
            f"{name} is not a leaf: {_maker(facts.t)} made it. backward() computes its gradient, passes it "
            "on, and drops it."
        )
    ]
    others = {}
    if facts.ran == "no":
        sentences.append("backward() has not run yet either.")
        others["no_backward"] = ("possible", "saved tensors are still there: not run, or run with retain_graph=True")
    return _one(
        "nonleaf",
        sentences,
        [f"{code}.retain_grad()   # after making {code}, before backward()"],
        f"grad_fn is {_maker(facts.t)}, retains_grad is False",
        "computed, not kept",
        **others,
    )


def _reached(facts):
    return {"yes": _was_filled, "no": _not_run, "unknown": _cannot_tell}[facts.ran](facts)


def _was_filled(facts):
    name, loss, code = facts.name(facts.t), facts.name(facts.loss, "the loss"), _code(facts)
    if not facts.t.is_leaf:
        return _retained_late(facts)
    return _one(
        "reset",
        [
            (
                f"A backward() has been through the graph of {loss} (its saved tensors are freed), and the path to "
                f"{name} is whole. So .grad was set to None afterwards: zero_grad() does that."
            ),
            (
                "Or that pass filled no .grad of it: autograd.grad(), backward(inputs=...), or a Function that "
                "returned None. Afterwards these look alike."
            ),
        ],
        [f"print({code}.grad)   # after backward(), before zero_grad()"],
        "the path is whole and a backward has run, but .grad is None",
        "set to None afterwards",
        no_backward=("no", f"it has run; a second one needs a new forward pass: this graph is freed{_others(facts)}"),
    )


def _others(facts):
    return f"; {facts.filled[0]}.grad is there" if facts.filled else ""


def _retained_late(facts):
    name, code = facts.name(facts.t), _code(facts)
    return _one(
        "nonleaf",
        [f"{name} retains its gradient, but a backward() has run without filling it: retain_grad() came too late."],
        [f"{code}.retain_grad()   # after making {code}, before backward()"],
        "retains_grad is True now, but was not when backward() came by",
        "computed, not kept",
        reset=("possible", ".grad was set to None afterwards"),
    )


def _not_run(facts):
    loss = facts.name(facts.loss, "the loss")
    others = {}
    if facts.filled:
        why = f"{facts.filled[0]}.grad is there: perhaps backward(retain_graph=True) ran, and .grad was reset"
        others["reset"] = ("possible", why)
    return _one(
        "no_backward",
        [f"The path is whole, but backward() has not come: everything the graph of {loss} saved is still there."],
        [f"{loss}.backward()"],
        "saved tensors are still there, so no backward has run that frees them",
        "not yet",
        **others,
    )


def _cannot_tell(facts):
    loss, code = facts.name(facts.loss, "the loss"), _code(facts)
    return Answer(
        "",
        [f"The path is whole. The graph of {loss} saved no tensor, so nothing shows whether a backward() has run."],
        [f"{loss}.backward()", f"print({code}.grad)   # before zero_grad()"],
        {
            "no_backward": ("possible", "nothing saved, so nothing that would be freed"),
            "reset": ("possible", "zero_grad() sets .grad to None"),
        },
        "not here",
    )


def _without_loss(facts):
    name, code = facts.name(facts.t), _code(facts)
    return Answer(
        "",
        [
            (
                f"{name} would keep a gradient if one came. A tensor does not know which losses were "
                "computed from it: "
                f"viz.why({code}, loss) can say more."
            )
        ],
        ["loss.backward()"],
        {
            "unreached": ("possible", "pass the loss to find out"),
            "no_backward": ("possible", "pass the loss to find out"),
            "reset": ("possible", "zero_grad() sets .grad to None"),
        },
        "no loss given",
    )


# Why the other reasons are ruled out


def _ruled_out(facts):
    t = facts.t
    return {
        "nonleaf": "it is a leaf" if t.is_leaf else "retain_grad() alone would not help",
        "detach": _graph_word(facts, "detach() would have removed it"),
        "no_grad": _graph_word(facts, "no_grad() would have removed it"),
        "needs_none": "requires_grad is True" if t.requires_grad else "requires_grad is False, as a result",
        "unreached": _reached_word(facts),
        "no_backward": "one has run" if facts.ran == "yes" else "it would not fill .grad",
        "reset": "nothing points to it",
    }


def _graph_word(facts, what):
    if facts.place is not None:
        return "the path from the loss is whole"
    if facts.cut is not None and facts.cut.node is not None:
        return "the cut is of another kind"
    return f"it requires grad: {what}" if facts.t.requires_grad else "nothing points to it"


def _reached_word(facts):
    if facts.place is not None:
        return "a path leads from the loss to it"
    if not facts.t.requires_grad:
        return "no gradient is wanted, whatever the loss"
    return "the loss was not given" if facts.loss is None else "it would be reached, but for the cause"
