"""Capturing what a function does to its tensors: it runs once, on tensors without data, and every operator is noted.

    Traced      stands for a tensor: a wrapper of a meta tensor and of the fx node that made it. Autograd
                stands above it as above any tensor, so asking for gradients while capturing notes backward's
                operators too.
    capture()   runs the function and returns a Captured: the graph, what its inputs are, what it returns

What needs a value (`if x.sum() > 0`, `.item()`) cannot be captured: NotCapturable names the line.
"""
import gc
import linecache
import operator
import traceback
from dataclasses import dataclass, field

from ..autograd import api
from ..core import geometry
from ..core.device import device as device_class
from ..core.dtype import dtype as dtype_class
from ..dispatch.operator import registry
from ..dispatch.overriding import disabled_torch_function
from ..dispatch.state import state
from ..fx import Graph
from ..fx.proxy import at_line, hold_constants, user_frame
from ..nn import Buffer, Parameter
from ..ops.generators import default_generator
from ..ops.torch_dispatch import TorchDispatchMode, is_factory
from ..tensor import Size, Tensor, meta_tensor, stride_of
from ..utils._pytree import tree_flatten, tree_map_only, tree_unflatten
from .effects import changed_arguments, changes_geometry, is_view

hold_constants(dtype_class, device_class)


class NotCapturable(Exception):
    """The function asks for a value that is not there while it is captured, or does what a graph cannot hold."""


class DoneAround(NotCapturable):
    """What a training step does around its model, which can be captured by itself: gradients filled in or forgotten, an
    optimizer's step."""


class Home:
    """The memory that a captured tensor and its views share.

    `is_fresh`: made within the function. `has_views`, `is_changed`: what happened to it in the function.
    """

    def __init__(self, is_fresh):
        self.is_fresh = is_fresh
        self.has_views = False
        self.is_changed = False


class Traced(Tensor):
    """A tensor that is being captured: `fake`, its shape and dtype as a meta tensor; `node`, what made it."""

    __torch_function__ = classmethod(disabled_torch_function)

    @staticmethod
    def __new__(cls, fake, node, capturing, device, requires_grad=False, home=None):
        return Tensor._make_wrapper_subclass(cls, fake.shape, strides=fake.stride(), dtype=fake.dtype,
                                             device=device, storage_offset=fake.storage_offset(),
                                             requires_grad=requires_grad)

    def __init__(self, fake, node, capturing, device, requires_grad=False, home=None):
        self.fake, self.node, self.capturing = fake, node, capturing
        self.home = home if home is not None else Home(is_fresh=True)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        capturing = next(t for t in tree_flatten((args, kwargs or {}))[0] if isinstance(t, Traced)).capturing
        return capturing.note(func, args, kwargs or {})

    def _refuse(self, *args, **kwargs):
        raise NotCapturable(f"the function asks a tensor for its value{at_line()}")

    __bool__ = __int__ = __float__ = __index__ = __complex__ = _refuse
    item = tolist = numpy = __array__ = data_ptr = __format__ = _refuse

    def __len__(self):
        return len(self.fake)

    def storage_offset(self):
        if not self.home.is_fresh:
            raise NotCapturable(f"the function asks where in its memory an argument begins{at_line()}")
        return self._offset

    def __repr__(self):
        if self.capturing.is_on and user_frame() is not None:
            raise NotCapturable(f"the function prints a tensor{at_line()}")
        return f"Traced({self.node}, {tuple(self.shape)}, {self.dtype})"


class Capturing(TorchDispatchMode):
    """One capture: the graph that grows, and the real tensors that the function brought along.

    Args:
        known: the real tensors that guards watch, by id; the function may use no other that was there before.
    """

    def __init__(self, known):
        self.graph = Graph()
        self.constants = {}                 # id of a real tensor -> (the tensor, its Traced)
        self.known = known
        self.existing = {id(o): o for o in gc.get_objects() if issubclass(type(o), Tensor)}
        self.leaves = set()                 # ids of constants that were leaves
        self.has_effects = False            # whether the graph changes memory in place
        self.is_on = True

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if is_factory(func):                # runs now: its tensor is one that the function holds
            return func(*args, **(kwargs or {}))
        return self.note(func, args, kwargs or {})

    # ---- tensors -------------------------------------------------------------------------------------------

    def placeholder(self, t, name, requires_grad=False):
        """The Traced of an input."""
        node = self.graph.placeholder(name)
        return self.traced(meta_like(t), node, t.device, requires_grad, Home(is_fresh=False))

    def traced(self, fake, node, device, requires_grad=False, home=None):
        node.meta["val"], node.meta["device"] = fake, device.type
        return Traced(fake, node, self, device, requires_grad, home)

    def constant(self, t):
        """The Traced of a real tensor that the function holds itself, such as a parameter: an input of the graph."""
        if id(t) not in self.constants:
            is_fresh = id(t) not in self.existing
            if not is_fresh and id(t) not in self.known:
                raise NotCapturable(f"the function uses a tensor that no guard can watch{at_line()}: pass it "
                                    "as an argument, or keep it in a module, a global or a closure")
            with self.graph.inserting_before(next(iter(self.graph.nodes), None)):
                node = self.graph.placeholder(f"held_{len(self.constants)}")
            if t.is_leaf:
                self.leaves.add(id(t))
            self.constants[id(t)] = t, self.traced(meta_like(t), node, t.device, home=Home(is_fresh))
        return self.constants[id(t)][1]

    def as_traced(self, t):
        return t if isinstance(t, Traced) else self.constant(t)

    # ---- operators -----------------------------------------------------------------------------------------

    def note(self, func, args, kwargs):
        """A node for one operator, and the Traced of each of its results."""
        if changes_geometry(func):
            raise NotCapturable(f"{func} changes a tensor's shape in place{at_line()}")
        given = args, kwargs
        args, kwargs = tree_map_only(Tensor, self.as_traced, given)
        tensors = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, Traced)]
        changed = changed_arguments(func, args, kwargs)
        refuse_absolute_offset(func, args, kwargs)
        if len(changed) == 1 and changed[0] is args[0] and can_be_functional(func, changed[0]):
            self.note_functional(func, args, kwargs)
            return given[0][0]
        found, node = self.call(func, args, kwargs)
        for t in changed:
            self.note_change(t)
        if changed and func._op.name.endswith("_") and changed[0] is args[0]:
            return given[0][0]
        home = tensors[0].home if is_view(func) else None
        if home is not None:
            home.has_views = True
        return self.results(found, node, tensors[0].device, home)

    def call(self, func, args, kwargs):
        """(what the operator returns for meta tensors, its node)."""
        fakes = tree_map_only(Traced, lambda t: t.fake, (args, kwargs))
        try:
            found = func(*fakes[0], **fakes[1])
        except NotImplementedError as error:
            raise NotCapturable(f"{func} has no rule for tensors without data{at_line()}: {error}") from None
        nodes = tree_map_only(Traced, lambda t: t.node, (args, kwargs))
        return found, self.graph.call_function(func, tuple(nodes[0]), dict(nodes[1]))

    def note_functional(self, func, args, kwargs):
        """An in-place operator on memory that nobody else sees: the functional operator, whose result takes over."""
        from ..ops.namespaces import overload_of

        target = args[0]
        op = registry[func._op.name.removesuffix("_")]
        found, node = self.call(overload_of(op, args), args, kwargs)
        node.meta["val"] = target.fake = found
        target.node = node

    def note_change(self, t):
        """The graph now changes this tensor's memory; what was made within the function is copied for each
        run first."""
        self.has_effects = True
        t.home.is_changed = True

    def results(self, found, node, device, home=None):
        if isinstance(found, Tensor):
            return self.traced(found, node, device, home=home)
        leaves, spec = tree_flatten(found)
        node.meta["val"] = found
        return tree_unflatten([self.result_at(leaf, node, i, device, home) for i, leaf in enumerate(leaves)],
                              spec)

    def result_at(self, leaf, node, i, device, home):
        if not isinstance(leaf, Tensor):
            return leaf
        return self.traced(leaf, self.graph.call_function(operator.getitem, (node, i)), device, home=home)


def refuse_absolute_offset(func, args, kwargs):
    """An offset into the memory of an argument: the next argument may begin elsewhere in its own."""
    if func._op.name != "as_strided" or args[0].home.is_fresh:
        return
    if len(args) > 3 and args[3] is not None or kwargs.get("storage_offset") is not None:
        raise NotCapturable(
            f"as_strided with a storage_offset looks at a tensor that the function did not make{at_line()}"
        )


def meta_like(t):
    """A tensor without data of `t`'s shape, strides and dtype."""
    return meta_tensor(t._shape, t._dtype, stride_of(t))


def can_be_functional(func, target):
    """Whether an in-place operator may become the functional one: nobody else looks at the target's memory."""
    name = func._op.name.removesuffix("_")
    home = target.home
    return (home.is_fresh and not home.has_views and not home.is_changed and target.node.op != "placeholder"
            and getattr(func._op.info, "kind", None) == "pointwise" and name in registry)


# ---- the whole function ------------------------------------------------------------------------------------

@dataclass
class Captured:
    """What one call did.

    `inputs`: the places, among the flattened arguments, of the tensors that are the graph's first
    placeholders. `held`: the real tensors that are its further placeholders. `outputs`: for each leaf of the
    result ("node", i), ("input", i) for an argument handed back, or ("constant", value); the graph returns
    the nodes, then the gradients if `wanted` is not empty. `wanted`: which placeholders get a gradient.
    `differentiable`: which of the graph's outputs have a tangent.
    """

    graph: Graph
    inputs: list
    held: list
    outputs: list
    spec: object
    count: int                              # how many tensors the graph computes for the function's result
    wanted: list = field(default_factory=list)
    differentiable: list = field(default_factory=list)
    has_effects: bool = False
    changes_input: bool = False             # whether an argument or a held tensor is changed in place
    fresh: list = field(default_factory=list)   # places in `held` of tensors to copy before each run

    @property
    def has_backward(self):
        return bool(self.wanted)


def capture(function, args, kwargs, environment):
    """Run `function` on tensors without data and return a Captured.

    Args:
        environment: an Environment, for the tensors that guards watch (`tensors`, {id: tensor}).

    Raises:
        NotCapturable: with the line that needs what a capture has not.
    """
    known = environment.tensors
    before = {i: (t, t.grad, t.is_leaf) for i, t in known.items()}
    try:
        return captured_once(function, args, kwargs, Capturing(known))
    finally:
        put_back(before)


def put_back(before):
    """Undo what autograd did to real tensors during a capture that then fails: gradients and histories."""
    for t, grad, was_leaf in before.values():
        if isinstance(t.grad, Traced):
            t.grad = grad
        if was_leaf and not t.is_leaf:
            t.detach_()


def captured_once(function, args, kwargs, capturing):
    leaves, spec = tree_flatten((args, kwargs))
    places, stand_ins = placeholders(capturing, leaves)
    given = [stand_ins.get(id(leaf), leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    args, kwargs = tree_unflatten(given, spec)
    random_before = default_generator.get_state()
    required = [t.requires_grad for t in stand_ins.values()]
    with capturing:
        found = run(function, args, kwargs)
        refuse_changed_containers(given, spec, (args, kwargs))
        refuse_changed_flags(required, stand_ins.values())
        refuse_gradients([*stand_ins.values(), *[t for t, _ in capturing.constants.values()]])
        captured = finish(capturing, found, places, list(stand_ins.values()))
    capturing.is_on = False
    refuse_histories(capturing)
    if not bool((default_generator.get_state() == random_before).all()):
        default_generator.set_state(random_before)
        raise NotCapturable("the function makes random numbers of its own, which a graph would repeat")
    return captured


def refuse_changed_containers(given, spec, arguments):
    """Lists and dicts among the arguments that the function changes: a graph would leave them as they are."""
    now, spec_now = tree_flatten(arguments)
    if spec_now != spec or any([a is not b for a, b in zip(now, given)]):
        raise NotCapturable("the function changes a list or dict that it was given: return what is new instead")


def refuse_changed_flags(required, stand_ins):
    """requires_grad_() and hooks of arguments, which outlast the call."""
    for before, t in zip(required, stand_ins):
        if t.is_leaf and t.requires_grad != before:
            raise NotCapturable("the function sets requires_grad of an argument: set it before the call")
        if t.is_leaf and t._backward_hooks:
            raise NotCapturable("the function registers a hook on an argument, which would stay there after the call: "
                                "register it outside of what is compiled")


def refuse_gradients(tensors):
    """Gradients that the function accumulates itself."""
    if any(isinstance(t.grad, Traced) for t in tensors if t.is_leaf):
        raise DoneAround("the function calls backward(), which fills .grad: compile the forward pass, or "
                         "use torch.autograd.grad")


def refuse_histories(capturing):
    """Held tensors that the function makes part of a graph."""
    for t, _ in capturing.constants.values():
        if not t.is_leaf and id(t) in capturing.leaves:
            raise NotCapturable("the function makes a tensor that it holds part of the autograd graph")


def run(function, args, kwargs):
    """Call the function; what goes wrong is said with the user's line."""
    try:
        return function(*args, **kwargs)
    except NotCapturable:
        raise
    except Exception as error:
        raise NotCapturable(f"{type(error).__name__}: {error}{line_of_error(error)}") from error


def line_of_error(error):
    """" (at FILE:LINE: `code`)" of the innermost frame outside of this library and of what it generates."""
    frames = [(f, line) for f, line in traceback.walk_tb(error.__traceback__)
              if not f.f_code.co_filename.startswith("<") and not is_own(f)]
    if not frames:
        return ""
    frame, line = frames[-1]
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    return f" (at {frame.f_code.co_filename}:{line}: `{text}`)"


def is_own(frame):
    return frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]


def placeholders(capturing, leaves):
    """The places of the tensors among the arguments, each object once, and {id: its Traced}."""
    places, stand_ins = [], {}
    for place, leaf in enumerate(leaves):
        if not isinstance(leaf, Tensor) or id(leaf) in stand_ins:
            continue
        if not is_plain(leaf):
            raise NotCapturable(f"an argument is a {type(leaf).__name__}, whose operators are its own")
        if leaf.is_sparse:
            raise NotCapturable("an argument is a sparse tensor, and kernels are made for strided ones")
        requires_grad = leaf.requires_grad and state.grad_enabled
        stand_in = capturing.placeholder(leaf, f"arg_{len(places)}", requires_grad)
        stand_in._is_param = isinstance(leaf, Parameter)
        stand_ins[id(leaf)] = stand_in
        places.append(place)
    return places, stand_ins


def is_plain(t):
    """Whether a tensor is no subclass with operators of its own."""
    return type(t) in (Tensor, Parameter, Buffer)


def finish(capturing, found, places, stand_ins):
    """The output node, with gradients if the results have any, and what the caller must know."""
    leaves, spec = tree_flatten(found)
    given = {id(t): i for i, t in enumerate(stand_ins)}
    tensors, outputs = {}, []
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            refuse_object(leaf)
            outputs.append(("constant", leaf))
        elif id(leaf) in given:
            outputs.append(("input", given[id(leaf)]))
        elif id(leaf) in capturing.existing:
            # a tensor that the function holds, handed out as it is
            outputs.append(("constant", leaf))
        else:
            tensors.setdefault(id(leaf), leaf)
            outputs.append(("node", list(tensors).index(id(leaf))))
    captured = Captured(capturing.graph, places, [], outputs, spec, len(tensors))
    results = note_results(capturing, captured, list(tensors.values()), stand_ins)
    held = list(capturing.constants.values())
    captured.held = [t for t, _ in held]
    captured.has_effects = capturing.has_effects
    homes = [t.home for _, t in held]
    captured.fresh = [i for i, home in enumerate(homes) if home.is_fresh and home.is_changed]
    captured.changes_input = any(h.is_changed and not h.is_fresh for h in [t.home for t in stand_ins] + homes)
    capturing.graph.output(tuple(results))
    order_placeholders(capturing.graph, stand_ins, [t for _, t in held])
    return captured


def note_results(capturing, captured, originals, stand_ins):
    """The nodes of the results and, if gradients flow to any, of the gradients."""
    traced = [capturing.as_traced(t) for t in originals]
    for i, t in enumerate(stand_ins):
        if t.requires_grad and not t.is_leaf:
            raise NotCapturable("an argument is changed in place by what requires grad")
        if t.requires_grad and t.home.is_changed:
            raise NotCapturable("an argument that requires grad, or a view of it, is changed in place")
    refuse_shared(traced, stand_ins, any(t.requires_grad for t in originals))
    results = [t.node for t in traced]
    if any(t.requires_grad for t in originals):
        results += note_backward(capturing, captured, originals, stand_ins)
    return results


def refuse_shared(results, stand_ins, is_training):
    """Results that share memory with each other; in training, with an argument: autograd would not know of it."""
    homes = [id(t.home) for t in results]
    if len(set(homes)) < len(homes):
        raise NotCapturable("two results share memory: return one, and make the other of it outside")
    if is_training and any(not t.home.is_fresh for t in results):
        raise NotCapturable("a result is a view of an argument or of a tensor that the function holds, and "
                            "gradients are wanted: return a clone of it, or make the view outside")


def refuse_object(leaf):
    """Results are tensors, numbers, strings and None, in tuples, lists and dicts."""
    if not isinstance(leaf, (int, float, complex, str, bytes, bool, type(None), dtype_class,
                             device_class, Size)):
        raise NotCapturable(f"the function returns a {type(leaf).__name__}, which is no tensor, number or "
                            "container")


def note_backward(capturing, captured, outputs, stand_ins):
    """Note the operators that carry tangents of the outputs to gradients of the inputs; return the gradients' nodes."""
    captured.differentiable = [i for i, t in enumerate(outputs) if t.requires_grad]
    tangents = []
    for i in captured.differentiable:
        node = capturing.graph.placeholder(f"tangent_{i}")
        fake = meta_tensor(outputs[i]._shape, outputs[i]._dtype, tangent_stride(outputs[i]))
        tangents.append(capturing.traced(fake, node, outputs[i].device))
    candidates = stand_ins + [t for t, _ in capturing.constants.values()]
    captured.wanted = [i for i, t in enumerate(candidates) if t.requires_grad and t.is_leaf]
    if not captured.wanted:
        raise NotCapturable("a result requires grad, but no argument or parameter does")
    try:
        found = api.grad([outputs[i] for i in captured.differentiable],
                         [candidates[i] for i in captured.wanted], tangents,
                         allow_unused=True)
    except RuntimeError as error:
        raise NotCapturable(f"a result's graph cannot be gone through for its gradients: {error}") from error
    return [None if g is None else capturing.as_traced(g).node for g in found]


def tangent_stride(t):
    """A result's tangent is expected in its strides; contiguous where elements of the result share memory."""
    stride = stride_of(t)
    return None if geometry.has_internal_overlap(t._shape, stride) else stride


def order_placeholders(graph, stand_ins, held):
    """Arguments, held tensors, tangents: the order in which a graph is called."""
    first = next(iter(graph.nodes))
    ordered = [t.node for t in stand_ins] + [t.node for t in held]
    for node in reversed(ordered):
        if node is not first:
            first.prepend(node)
        first = node
