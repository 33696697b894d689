"""`Function`: an operator of the user's own, with its backward.

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad):
            result, = ctx.saved_tensors
            return grad * result

`Exp.apply(x)` runs forward without recording and makes a node; as in PyTorch, `ctx` *is* that node (an ExpBackward).
https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function
"""
import functools
import inspect
import warnings

import numpy as np

from ..core import dtype as dt
from ..dispatch.state import set_grad_mode, state
from ..tensor import Tensor, from_array, meta_tensor
from . import views
from .forward_ad import carry, check_size, has_tangent, tangent_of
from .meta import gradient_source, meta_of, set_history, tracks
from .node import SECOND_BACKWARD, InputMetadata, Node
from .saved import save_input, save_result
from .tensor_fields import bump_version


class FunctionCtx:
    """What forward and backward share. Attributes set on it in forward are there in backward."""

    def save_for_backward(self, *tensors):
        """Keep inputs or outputs for backward; each a tensor or None. Version-checked, freed after backward."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for `jvp`."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *args):
        """Say which inputs forward changed in place; they must be returned."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args):
        """Say which outputs no gradient flows to."""
        self.non_differentiable = args

    def set_materialize_grads(self, value):
        """Whether undefined gradients reach backward as zeros (the default) or as None."""
        self.materialize_grads = value


class FunctionNode(Node, FunctionCtx):
    """The ctx of one call and its backward node; each Function has a subclass, named after it."""

    _function = None            # the Function; users may set any public name on their ctx
    to_save = ()
    saved_for_forward = None
    dirty_tensors = ()
    non_differentiable = ()
    materialize_grads = True
    needs_input_grad = ()
    _saved = ()

    @property
    def saved_tensors(self):
        """What save_for_backward kept. RuntimeError after the graph was freed."""
        if self._saved is None:
            raise RuntimeError(SECOND_BACKWARD)
        return tuple([None if s is None else s.unpack(self, nr) for s, nr in self._saved])

    @property
    def saved_variables(self):
        """The older name of saved_tensors."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def __repr__(self):
        return f"<torch.autograd.function.{self.name()} object at {hex(id(self))}>"

    def apply(self, grads):
        if self.materialize_grads:
            grads = [zeros_of(m) if g is None else g for g, m in zip(grads, self.input_metadata)]
        elif all(g is None for g in grads):
            return [None] * len(self.sources)
        found = backward_of(self._function)(self, *self.per_output(grads))
        found = list(found) if isinstance(found, tuple) else [found]
        return self.per_edge(self.checked_count(found))

    def per_output(self, grads):
        """The gradients in the places of forward's outputs: None for an output that is no tensor."""
        remaining = iter(grads)
        return [next(remaining) if is_tensor else None for is_tensor in self.is_tensor_output]

    def checked_count(self, found):
        """As many gradients as forward had arguments; trailing Nones too many are ignored."""
        wanted = len(self.needs_input_grad)
        while len(found) > wanted and found[-1] is None:
            found.pop()
        if len(found) != wanted:
            raise RuntimeError(f"function {self.name()} returned an incorrect number of gradients (expected {wanted}, "
                               f"got {len(found)})")
        return found

    def per_edge(self, found):
        """The gradients of the tensor arguments. RuntimeError for a gradient of something else."""
        edges = []
        for i, (grad, is_tensor) in enumerate(zip(found, self.is_tensor_input)):
            if not is_tensor and grad is not None:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position {i + 1}, "
                    "but the corresponding forward input was not a Variable"
                )
            if is_tensor:
                if grad is not None and not isinstance(grad, Tensor):
                    raise RuntimeError(f"expected Variable or None (got {type(grad).__name__})")
                edges.append(grad)
        return edges

    def release(self):
        if self._saved:
            self._saved = None


def zeros_of(metadata):
    """Zeros in place of an undefined gradient."""
    if metadata.device.type == "meta":
        return meta_tensor(metadata.shape, metadata.dtype)
    return from_array(np.zeros(metadata.shape, metadata.dtype.numpy))


class FunctionMeta(type):
    """Gives every Function its node class, called <name>Backward."""

    def __init__(cls, name, bases, attributes):
        super().__init__(name, bases, attributes)
        cls._node_class = type(name + "Backward", (FunctionNode,), {"_function": cls})


class Function(metaclass=FunctionMeta):
    """Base class: subclasses define the static methods forward and backward, and call `apply`.

    forward(ctx, *args), or forward(*args) with setup_context(ctx, inputs, output). `jvp(ctx, *tangents)` for forward
    mode.
    """

    def __init__(self, *args, **kwargs):
        warnings.warn(f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so "
                           "you should invoke them on the class itself. Instantiating an autograd function will raise "
                           "an error in a future version of PyTorch.", DeprecationWarning, stacklevel=2)

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save on `ctx` what backward needs, of forward's inputs and output, if forward takes no ctx itself."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of forward's inputs, one each or None, from those of its outputs."""
        raise NotImplementedError("You must implement either the backward or vjp method for your custom "
                                  "autograd.Function to use it with backward mode AD.")

    is_internal = False             # one of the framework's own: it may be used in every transform
    generate_vmap_rule = False      # whether vmap may take the Function for one made of operators

    @staticmethod
    def vmap(info, in_dims, *args):
        """What func.vmap does: (outputs, their batch dimensions) for inputs with batch dimensions `in_dims`."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    # Another name for backward; a Function defines one of the two.
    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """The tangents of the outputs, from those of the inputs."""
        raise NotImplementedError("You must implement the jvp function for custom autograd.Function to use it with "
                                  "forward mode AD.")

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
            "autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run forward on the arguments and record the call."""
        if state.transforms and not cls.is_internal:
            require_transformable(cls)
        if kwargs or has_setup_context(cls):
            args, kwargs = in_places(cls, args, kwargs), {}
        node = cls._node_class()
        node.needs_input_grad = tuple([isinstance(a, Tensor) and tracks(a) for a in args])
        node.is_tensor_input = [isinstance(a, Tensor) for a in args]
        is_recorded = state.grad_enabled and any(node.needs_input_grad)
        sources = tuple([gradient_source(a) if is_recorded else None for a in args if isinstance(a, Tensor)])
        result = run_forward(cls, node, args, kwargs)
        outputs = result if isinstance(result, tuple) else (result,)
        wrapped = connect(node, args, outputs, sources, is_recorded)
        if state.forward_ad and has_tangent(args):
            push_by_jvp(cls, node, args, wrapped)
        return wrapped if isinstance(result, tuple) else wrapped[0]


def require_transformable(cls):
    """RuntimeError for a Function that PyTorch's transforms refuse. Ours could run it: they work on plain tensors."""
    if not has_setup_context(cls):
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it "
            f"must override the setup_context staticmethod. {EXTENDING}"
        )
    if "vmap" not in state.transforms:
        return
    if cls.generate_vmap_rule and has_vmap_rule(cls):
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden "
            "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap "
            f"staticmethod to avoid ambiguity. {EXTENDING}"
        )
    if not cls.generate_vmap_rule and not has_vmap_rule(cls):
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and "
            f"implement the vmap staticmethod or set generate_vmap_rule=True. {EXTENDING}"
        )


EXTENDING = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def has_vmap_rule(cls):
    return cls.vmap is not Function.vmap


def in_places(cls, args, kwargs):
    """The arguments of forward in their places, defaults filled in, so that each has a gradient."""
    context = () if has_setup_context(cls) else (None,)
    bound = inspect.signature(cls.forward).bind(*context, *args, **kwargs)
    bound.apply_defaults()
    return bound.args[len(context):]


def backward_of(cls):
    """The Function's backward, which may be called vjp. RuntimeError if it has both."""
    has_vjp = cls.vjp is not Function.vjp
    if has_vjp and cls.backward is not Function.backward:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
            "implement one of them."
        )
    return cls.vjp if has_vjp else cls.backward


def has_setup_context(cls):
    return cls.setup_context is not Function.setup_context


def run_forward(cls, node, args, kwargs):
    """Call forward (and setup_context) with recording off."""
    before = state.grad_enabled
    set_grad_mode(False)
    try:
        if not has_setup_context(cls):
            return cls.forward(node, *args, **kwargs)
        output = cls.forward(*args, **kwargs)
        cls.setup_context(node, args, output)
        return output
    finally:
        set_grad_mode(before)


def connect(node, args, outputs, sources, is_recorded):
    """Give the outputs their place in the graph and keep what was to be saved."""
    node.sources = sources
    tensors = [out for out in outputs if isinstance(out, Tensor)]
    node.is_tensor_output = [isinstance(out, Tensor) for out in outputs]
    node.input_metadata = [InputMetadata(out) for out in tensors]
    for t in node.dirty_tensors:
        bump_version(t)
    if any(all(d is not out for out in tensors) for d in node.dirty_tensors):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs "
            "that are modified inplace must all be outputs of the Function."
        )
    numbers = iter(range(len(tensors)))
    wrapped = [connected(node, args, out, next(numbers), is_recorded) if isinstance(out, Tensor) else out
               for out in outputs]
    forbid_changing_several([out for out in wrapped if isinstance(out, Tensor)], node)
    if is_recorded:
        keep_saved(node, outputs)
    return tuple(wrapped)


def connected(node, args, out, nr, is_recorded):
    """One output as output `nr` of the node: an input changed in place, an alias of an input, or a new tensor.

    torch/csrc/autograd/custom_function.cpp, _process_backward_mode_ad
    """
    is_input = any(out is a for a in args)
    is_dirty = any(out is d for d in node.dirty_tensors)
    if not (is_recorded and is_differentiable_output(node, out)):
        out = untracked_output(out, is_input, is_dirty)
    elif is_dirty:
        rebase_output(node, out, nr, is_input)
    else:
        out = alias_of_input(out) if is_input else out
        set_history(out, node, nr)
    if out._view is not None and not (is_input and is_dirty):
        out._view.creation = views.CUSTOM_FUNCTION
    return out


def is_differentiable_output(node, out):
    return out._dtype.category == dt.FLOATING and not any(out is t for t in node.non_differentiable)


def untracked_output(out, is_input, is_dirty):
    """An output that no gradient flows to. An input keeps its own requires_grad: its alias has none."""
    if tracks(out):
        if is_input:
            return out.detach()
        return out if out._view is not None else out.detach_()
    return alias_of_input(out) if is_input and not is_dirty else out


def alias_of_input(t):
    """An input that forward returned as it is comes out as a view of itself, an object of its own."""
    before = state.grad_enabled
    set_grad_mode(False)
    try:
        return t.view_as(t)
    finally:
        set_grad_mode(before)


def rebase_output(node, t, nr, is_input):
    """Make a tensor that forward changed in place come from the node."""
    if t._view is None and tracks(t) and t.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    views.check_inplace(t)
    if not is_input:
        warnings.warn(
            "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated "
            "should be passed to ctx.mark_dirty().",
            stacklevel=5,
        )
    if t._view is not None and len(node.input_metadata) > 1:
        raise RuntimeError("If your Function modifies inplace an input that is a view of another Tensor, your Function "
                           "cannot return more than one Tensor. This is not supported by the current autograd engine. "
                           "You should either make sure the input is not a view (using .clone() for example) or make "
                           "your Function only return one Tensor (potentially splitting it into two Functions: one "
                           "doing the inplace that returns a single Tensor and a second one that does the other "
                           "operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do "
                           "this change.")
    meta = meta_of(t)
    meta.grad = meta.hooks = None
    views.rebase_history(t, node, nr)


def forbid_changing_several(outputs, node):
    """Views among several differentiable outputs may not be changed in place."""
    differentiable = [out for out in outputs if out._meta is not None and out._meta.grad_fn is node]
    if len(differentiable) > 1:
        for out in outputs:
            if out._view is not None:
                out._view.creation = views.MULTI_OUTPUT


def keep_saved(node, outputs):
    """Turn what save_for_backward was given into saved tensors: inputs by reference, outputs without their node."""
    saved = []
    numbers = {id(out): i for i, out in enumerate([o for o in outputs if isinstance(o, Tensor)])}
    for i, t in enumerate(node.to_save):
        if t is not None and not isinstance(t, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
            )
        if t is None:
            saved.append((None, 0))
        elif id(t) in numbers:
            saved.append((save_result(t), numbers[id(t)]))
        else:
            saved.append((save_input(t), 0))
    node._saved = saved
    node.to_save = ()


def push_by_jvp(cls, node, args, outputs):
    """Forward mode: the outputs' tangents from the Function's own jvp."""
    if node.saved_for_forward is not None:
        node._saved = [(save_input(t), 0) if t is not None else (None, 0) for t in node.saved_for_forward]
    found = cls.jvp(node, *[tangent_of(a) for a in args])
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(outputs):
        raise RuntimeError("Function's jvp returned an invalid number of forward gradients (expected "
                           f"{len(outputs)} but got {len(found)})")
    for out, tangent in zip(outputs, found):
        if tangent is not None:
            check_size(out, tangent)
            carry(out, tangent)


def once_differentiable(backward):
    """Mark a backward as not differentiable itself: a second derivative through it is an error."""
    @functools.wraps(backward)
    def guarded(ctx, *grads):
        is_differentiated = state.grad_enabled and any(isinstance(g, Tensor) and tracks(g) for g in grads)
        before = state.grad_enabled
        set_grad_mode(False)
        try:
            found = backward(ctx, *grads)
        finally:
            set_grad_mode(before)
        if not is_differentiated:
            return found
        return tuple(delayed_error(g) for g in (found if isinstance(found, tuple) else (found,)))
    return guarded


def delayed_error(t):
    """The tensor, with a history that raises when it is differentiated."""
    if not isinstance(t, Tensor):
        return t
    t = t.detach()
    set_history(t, DelayedError(t))
    return t


class DelayedError(Node):
    """Stands for a derivative that nobody defined."""

    def __init__(self, t):
        super().__init__()
        self.input_metadata = [InputMetadata(t)]

    def apply(self, grads):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")

