"""`Node`: one call in a graph, and what it knows of its neighbours.

    op              target                          means
    placeholder     the parameter's name            an input; args: its default, if it has one
    get_attr        "layer.weight"                  an attribute of the module
    call_function   the function                    target(*args, **kwargs)
    call_method     "view"                          args[0].view(*args[1:], **kwargs)
    call_module     "layer"                         the submodule, called
    output          "output"                        args[0] is returned

Nodes stand in a doubly linked list, in the order they run; `users` is kept up to date whenever arguments
change.
"""
import builtins
import types

from ..ops.declare import exports
from ..overrides import resolve_name

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")


class immutable_list(list):
    """A list in a node's arguments: changing it would bypass `users`."""

    def _refuse(self, *args, **kwargs):
        raise TypeError(f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify "
                        "the kwargs or args of a torch.fx.Node object,\ninstead create a new copy of it and assign the "
                        "copy to the node:\n\n    new_args = ...  # copy and mutate args\n    node.args = new_args")

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self):
        return hash(tuple(self))

    def __reduce__(self):
        return type(self), (list(self),)


class immutable_dict(dict):
    """A dict in a node's arguments."""

    _refuse = immutable_list._refuse
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self):
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return type(self), (dict(self),)


# ---- arguments -------------------------------------------------------------------------------------------

def map_aggregate(argument, function):
    """The argument with `function` applied to everything in its tuples, lists, dicts and slices."""
    if isinstance(argument, tuple):
        items = [map_aggregate(item, function) for item in argument]
        return type(argument)(*items) if hasattr(argument, "_fields") else tuple(items)
    if isinstance(argument, list):
        return immutable_list([map_aggregate(item, function) for item in argument])
    if isinstance(argument, dict):
        return immutable_dict({key: map_aggregate(value, function) for key, value in argument.items()})
    if isinstance(argument, slice):
        return slice(*[map_aggregate(part, function)
                       for part in (argument.start, argument.stop, argument.step)])
    return function(argument)


def map_arg(a, fn):
    """`map_aggregate` that changes nodes only."""
    return map_aggregate(a, lambda item: fn(item) if isinstance(item, Node) else item)


def nodes_in(*arguments):
    """The nodes in arguments, each once, in order of first appearance."""
    found = {}
    for argument in arguments:
        map_arg(argument, lambda node: found.setdefault(node))
    return list(found)


class Node:
    """One call. Made by the methods of Graph; not by hand."""

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in OPS:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function" and not callable(target):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                             f"{type(target).__name__} but a Callable is expected")
        if op != "call_function" and not isinstance(target, str):
            raise ValueError(f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                             f"{type(target).__name__} but a str is expected")
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.meta = {}                    # notes of passes and of the user
        self.users = {}                   # nodes that take this one as an argument, in order
        self._input_nodes = []
        self._prev = self._next = self
        self._erased = False
        self._set_arguments(args, kwargs)

    # ---- arguments and neighbours ------------------------------------------------------------------------

    @property
    def args(self):
        """Positional arguments: numbers, strings, nodes, and tuples, lists, dicts and slices of them."""
        return self._args

    @args.setter
    def args(self, args):
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self):
        """Keyword arguments."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._set_arguments(self._args, kwargs)

    def _set_arguments(self, args, kwargs):
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._args = map_aggregate(tuple(args), lambda item: item)
        self._kwargs = map_aggregate(dict(kwargs), lambda item: item)
        self._input_nodes = nodes_in(self._args, self._kwargs)
        for node in self._input_nodes:
            node.users.setdefault(self)

    @property
    def all_input_nodes(self):
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx, arg):
        """Replace one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        """Insert a positional argument before the one at `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and len(self.args), got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key, arg):
        """Replace or add one keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input, new_input):
        """Take `new_input` wherever `old_input` stands among the arguments."""
        def swapped(node):
            return new_input if node is old_input else node
        self._set_arguments(map_arg(self.args, swapped), map_arg(self.kwargs, swapped))

    def replace_all_uses_with(self, replace_with, delete_user_cb=None, *, propagate_meta=False):
        """Make the users of this node take another one instead; returns those that do.

        `delete_user_cb(user)`: whether this user is to change; all are without it.
        `propagate_meta`: copy `meta` to an empty one.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("Called node.replace_all_uses_with(replace_with, propagate_meta=True), "
                                     "but replace_with already has .meta keys")
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def normalized_arguments(self, root, arg_types=None, kwarg_types=None,
                             normalize_to_only_use_kwargs=False):
        """The arguments of a call of a public function, or of a module of torch.nn in `root`, in their
        declared places and
        with defaults: an ArgsKwargsPair. None for other nodes."""
        from . import operator_schemas

        if self.op == "call_function":
            return operator_schemas.normalize_function(self.target, self.args, self.kwargs, arg_types,
                                                       kwarg_types,
                                                       normalize_to_only_use_kwargs)
        if self.op == "call_module":
            return operator_schemas.normalize_module(root, self.target, self.args, self.kwargs,
                                                     normalize_to_only_use_kwargs)
        return None

    # ---- place in the list -------------------------------------------------------------------------------

    @property
    def next(self):
        """The node that runs after this one; the list's root after the last."""
        return self._next

    @property
    def prev(self):
        """The node that runs before this one."""
        return self._prev

    def prepend(self, x):
        """Move a node of this graph to the place before this one."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is not self:
            x._unlink()
            x._link_before(self)

    def append(self, x):
        """Move a node of this graph to the place after this one."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is not self and x is not self._next:
            x._unlink()
            x._link_before(self._next)

    def _link_before(self, place):
        self._prev, self._next = place._prev, place
        place._prev._next = place._prev = self

    def _unlink(self):
        self._prev._next, self._next._prev = self._next, self._prev

    # ---- what it says ------------------------------------------------------------------------------------

    @property
    def stack_trace(self):
        """Where in the traced code the call stands, if the tracer recorded it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random=True):
        """Whether the node does something beside returning a value, so that it stays though nobody uses it.

        What writes into its arguments is impure, by its name or by `out=`. (PyTorch's takes `x.add_(1)` and
        `relu_(x)` for pure, and its eliminate_dead_code erases them.)
        `impure_random`: whether drawing random numbers, which moves the generator on, is such a thing.
        """
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            name = getattr(self.target, "__name__", "")
            draws = impure_random and name in RANDOM
            return draws or self.target in _side_effects or writes(name, self.kwargs)
        if self.op == "call_method":
            return writes(self.target, self.kwargs)
        if self.op == "call_module":
            return getattr(self._submodule(), "_is_impure", False)
        return False

    def _submodule(self):
        owner = self.graph.owning_module
        if owner is None:
            raise AssertionError("self.graph.owning_module not set for purity check")
        return owner.get_submodule(self.target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, *,
                    include_tensor_metadata=False):
        """One line of text, as `print(graph)` shows it."""
        return format_node(self)

    def __repr__(self):
        return self.name

    def __lt__(self, other):
        return self._is_before(other)

    def __le__(self, other):
        return self is other or self._is_before(other)

    def __gt__(self, other):
        return other._is_before(self)

    def __ge__(self, other):
        return self is other or other._is_before(self)

    def _is_before(self, other):
        """Whether this node runs before another one of its graph."""
        for node in self.graph.nodes:
            if node is self or node is other:
                return node is self and self is not other
        raise ValueError(f"{self} and {other} do not stand in one graph")


# Operators that draw random numbers. As in PyTorch, functions made of them, such as F.dropout, are not looked into.
RANDOM = frozenset(("rand", "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "normal",
                    "bernoulli", "multinomial", "poisson"))
_side_effects = {builtins.print, setattr, exports[""]["_assert"]}


def has_side_effect(fn):
    """Mark a function as one whose calls stay in a graph although nobody uses their result. Returns it."""
    _side_effects.add(fn)
    return fn


def writes(name, kwargs):
    """Whether a call changes its argument, by PyTorch's rule of names: `add_`, and `inplace=True` or `out=`."""
    name = name.partition(".")[0]                          # aten.add_.Tensor
    in_place = name.endswith("_") and not name.endswith("__") and name not in ("and_", "or_", "not_", "is_")
    return in_place or bool(kwargs.get("inplace")) or kwargs.get("out") is not None or name in ("setitem",
                                                                                                "__setitem__")


# ---- as text ---------------------------------------------------------------------------------------------

def qualified_name(function):
    """How generated code reaches a function: "torch.relu", "operator.add", "builtins.getattr"."""
    ours = resolve_name(function)
    if ours is not None:
        return ours
    name, module = getattr(function, "__name__", type(function).__name__), function.__module__
    if module in ("_operator", "operator"):
        return f"operator.{name}"
    if isinstance(function, (types.BuiltinFunctionType, type)) and getattr(builtins, name, None) is function:
        return f"builtins.{name}"
    return f"{module}.{name}"


def is_builtin(kind):
    """Whether a type has its name everywhere, like int."""
    return isinstance(kind, type) and getattr(builtins, kind.__name__, None) is kind


def type_repr(kind):
    """A type annotation as text: "int", "torch.Tensor", "typing.List[torch.Tensor]"."""
    package = __name__.partition(".")[0]
    if not isinstance(kind, type):
        return repr(kind).replace(f"{package}.tensor.", "torch.").replace(f"{package}.", "torch.")
    if is_builtin(kind):
        return kind.__name__
    home = kind.__module__
    if home == f"{package}.tensor":
        return f"torch.{kind.__name__}"
    return f"{home}.{kind.__name__}".replace(package, "torch")


def pretty_target(node):
    return node.target if isinstance(node.target, str) else qualified_name(node.target)


def format_argument(argument):
    """An argument as `print(graph)` shows it: nodes with a %."""
    if isinstance(argument, Node):
        return f"%{argument.name}"
    if isinstance(argument, tuple) and not hasattr(argument, "_fields"):
        return f"({', '.join(map(format_argument, argument))}{',' if len(argument) == 1 else ''})"
    if isinstance(argument, list):
        return f"[{', '.join(map(format_argument, argument))}]"
    if isinstance(argument, dict):
        return "{" + ", ".join([f"{key}: {format_argument(value)}" for key, value in argument.items()]) + "}"
    return str(argument)


def format_node(node):
    if node.op == "output":
        return f"return {node.args[0]}"
    kind = "" if node.type is None else f"{type_repr(node.type)} "
    head = f"%{node.name} : {kind}[num_users={len(node.users)}] = {node.op}[target={pretty_target(node)}]"
    if node.op == "placeholder":
        return head + (f"(default={node.args[0]})" if node.args else "")
    if node.op == "get_attr":
        return head
    return f"{head}(args = {format_argument(node.args)}, kwargs = {format_argument(node.kwargs)})"
