"""Declaring operators: all that is known of one stands in one place.

    @operator("cumsum", vjp={"self": lambda grad, dim: grad.flip(dim).cumsum(dim).flip(dim)}, jvp=LINEAR, fake=...)
    def cumsum(self, dim, *, dtype=None): <CPU kernel: arrays in, arrays out>

    @pointwise("tanh", numpy=np.tanh, kind=FLOAT, vjp={"self": lambda grad, result: grad * (1 - result * result)})
    def tanh(self): <one element: what Numba compiles>

    @view("transpose", vjp={"self": lambda grad, dim0, dim1: grad.transpose(dim0, dim1)})
    def transpose(self, dim0, dim1): <the new (shape, stride, offset)>

    @composite("square")
    def square(self): <calls of other operators>

From the row come the function, the method, the in-place and out= variants, the autograd node, the meta kernel.
`vjp` formulas are explained in autograd/derivative.py. `jvp` says how forward mode differentiates the operator:
LINEAR (the operator itself, of the tangents), ELEMENTWISE (the sum of the VJPs, with the tangents as gradients),
MULTILINEAR (the sum, over the arguments, of the operator with that argument's tangent), or a formula whose parameters
are arguments, outputs and `<argument>_t`, the tangents (None where an argument has none). A fake rule gets the arguments (tensors, of which it may read
shape, stride and dtype) and returns the results' Fake; it also raises PyTorch's errors for arguments that do not fit.
"""
import functools
import inspect
import warnings

import numpy as np

from ..autograd.derivative import Derivatives
from ..autograd.forward_ad import ELEMENTWISE, LINEAR, MULTILINEAR, has_tangent  # noqa: F401  (for the declarations)
from ..autograd.meta import tracks
from ..autograd.record import functional_kernel, inplace_kernel
from ..autograd.tensor_fields import bump_version
from ..autograd.views import mark_view
from ..core import geometry, observer
from ..core.generated import function_from
from ..dispatch import keys as K
from ..kernels.pointwise import silently
from ..memory.runtime import runtime_of
from ..memory.storage import UntypedStorage
from ..dispatch.operator import COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, Deferred, Operator, registry
from ..dispatch.state import state
from ..dispatch.torch_function import (as_written, asking, flattened, handle_torch_function, has_torch_function,
                                       overridable)
from ..tensor import Tensor, alias, array_of, counter_of, from_array, meta_tensor, resize_elements, stride_of
from . import elementwise
from .elementwise import BOOL, FLOAT, SAME, check_result, explain, refuse_overlap  # noqa: F401  (some for other modules)
from .fake import Fake
from .memory_formats import following_fake, following_kernel
from .out_dtypes import check_out_dtype
from .return_types import return_type
from .signature import Signature, positional, positional_call, public_function

exports = {}                    # namespace ("" is teachtorch itself, "Tensor", "linalg", ...) -> {name: function}


class Declaration:
    """What `teachtorch.ops` shows of an operator."""

    def __init__(self, name, kind, function, derivatives=None, fake=None, inplace=False, out=True, outputs=("result",)):
        self.name = name
        self.kind = kind
        self.function = function
        self.signature = Signature(function)
        self.derivatives = derivatives
        self.fake = fake
        self.has_inplace, self.reads_apart = inplace, False     # reads_apart: `name_` refuses to read what it writes to
        self.has_out = out
        self.outputs = outputs
        self.public = None              # the function that users call
        self.public_inplace = None      # and that of the in-place variant
        self.pointwise = self.cpu = None    # of a pointwise operator: (its PointwiseKernels, its kind); its CPU kernel

    @property
    def schema(self):
        """The signature as text, such as "sum(self, dim=None, keepdim=False, *, dtype=None)"."""
        return self.name + str(self.signature)

    @property
    def vjp(self):
        """Which arguments have a derivative."""
        return [] if self.derivatives is None else [self.signature.names[p] for p in self.derivatives.positions]

    @property
    def jvp(self):
        return None if self.derivatives is None else self.derivatives.jvp


# ---- the decorators -----------------------------------------------------------------------------------------------

def operator(name, vjp=None, jvp=None, fake=None, outputs=("result",), inplace=False, out=True, spaces=("", "Tensor"),
             arrays=None, format_of=()):
    """Declare an operator by its CPU kernel, a function from arrays (and other arguments) to an array or a tuple.

    `outputs`: names of the results; more than one makes them a named tuple. `inplace`: also `name_`, which computes
    and then copies. `spaces`: where users find it. `format_of`: the arguments whose memory format the results take.
    """
    def declare(function):
        info = describe(name, "operator", function, vjp, jvp, fake, inplace, out, outputs, arrays)
        follow_format(info, format_of)
        op = Operator(name, info)
        op.register(K.CPU, Deferred(lambda: cpu_kernel(info, format_of)))
        register_meta(op, info.fake)
        return finish(op, info, spaces)
    return declare


def follow_format(info, format_of):
    """The fake rule tells the strides that the kernel will give."""
    if format_of and info.fake is not None:
        info.fake = following_fake(info.fake, places_of(info, format_of))


def places_of(info, names):
    return [info.signature.names.index(name) for name in names]


def cpu_kernel(info, format_of):
    kernel = array_kernel(info.function, info.signature, info.fake, results_type(info.name, info.outputs))
    return following_kernel(kernel, places_of(info, format_of)) if format_of else kernel


def pointwise(name, numpy=None, kind=SAME, vjp=None, jvp=ELEMENTWISE, plain=None, plain_numpy=None, inplace=True,
              fake=None, spaces=("", "Tensor"), arrays=None):
    """Declare an operator by what it does to one element of each of its operands.

    `numpy`: the ufunc for small arrays. `kind`: SAME, FLOAT (integers become floats) or BOOL (a predicate).
    Keyword-only arguments are further operands; while they have their defaults, `plain` is computed without them.
    """
    def declare(scalar):
        rule = fake or elementwise.fake_rule(kind, Signature(scalar))
        info = describe(name, "pointwise", scalar, vjp, jvp, rule, inplace, True, arrays=arrays)
        kernel = elementwise.kernel_of(scalar, numpy, kind, plain, plain_numpy, info.signature)
        info.pointwise = kernel, kind
        op = Operator(name, info)
        info.cpu = op.register(K.CPU, elementwise.cpu_kernel(kernel, kind, info.fake))
        register_meta(op, info.fake)
        if inplace:
            declare_inplace(op, info, elementwise.cpu_inplace_kernel(name + "_", kernel, kind), spaces)
        return finish(op, info, spaces)
    return declare


def view(name, vjp=None, is_multi_output=False, spaces=("", "Tensor"), arrays=None):
    """Declare a view by geometry: a function from the tensor and other arguments to (shape, stride, offset), or to a
    list of those. The same kernel serves every device; the result shares the storage."""
    def declare(function):
        info = describe(name, "view", function, vjp, LINEAR, None, False, False, arrays=arrays)
        op = Operator(name, info)
        op.register(COMPOSITE_EXPLICIT, view_kernel(positional(function, info.signature)))
        op.register(K.AD_INPLACE_OR_VIEW, tracking_kernel(op, positional(function, info.signature), is_multi_output))
        return finish(op, info, spaces)
    return declare


def composite(name, out=False, spaces=("", "Tensor"), outputs=("result",)):
    """Declare an operator that only calls others: it has their derivatives and runs on every device."""
    def declare(function):
        info = describe(name, "composite", function, None, None, None, False, out, outputs)
        op = Operator(name, info)
        op.register(COMPOSITE_IMPLICIT, composite_kernel(function, info.signature))
        return finish(op, info, spaces)
    return declare


def inplace_operator(name, vjp=None, fake=None, spaces=("Tensor",)):
    """Declare an operator that changes its first argument, by a kernel that writes into that array.

    It must check everything before it writes: a refused change leaves the tensor as it was.
    """
    def declare(function):
        info = describe(name, "in-place", function, vjp, None, fake, False, False)
        op = Operator(name, info)
        op.register(K.CPU, writing_kernel(positional(function, info.signature)))
        op.register(K.META, lambda keys, self, *args: self)
        register_inplace_keys(op, info.derivatives)
        return finish(op, info, spaces, is_inplace=True)
    return declare


def backend_for(device):
    """The key of a device's kernels. RuntimeError if the device type has no runtime."""
    runtime_of(device.type)
    return K.OF_DEVICE[device.type]


# ---- the parts they share -------------------------------------------------------------------------------------

def describe(name, kind, function, vjp, jvp, fake, inplace, out, outputs=("result",), arrays=None):
    signature = Signature(function)
    derivatives = Derivatives(name, signature.names, vjp, jvp, outputs, arrays) if vjp else None
    return Declaration(name, kind, function, derivatives, fake, inplace, out, outputs)


def finish(op, info, spaces, is_inplace=False):
    """Register the autograd kernel, publish the function, and declare the in-place variant."""
    if info.derivatives is not None and not is_inplace:
        op.register(K.AUTOGRAD, Deferred(lambda: functional_kernel(op, info.derivatives)))
    call_out = (lambda out, *args: public_out(op, out, args)) if info.has_out else None
    direct = positional(info.function, info.signature) if info.kind == "composite" else None
    public = public_function(op, info.signature, call_out, direct, rules_name(op.name, spaces))
    public.__doc__ = info.function.__doc__
    public.__module__ = info.function.__module__
    info.public = asking(public)
    op.make_call = lambda: positional_call(op, info.signature)
    publish(op.name.rpartition(".")[2], public, spaces)
    if info.has_inplace and info.kind == "operator":
        declare_inplace(op, info, copying_kernel(op), spaces)
    return public


def publish(name, function, spaces):
    """Make a function known to users under each of the namespaces."""
    public = overridable(function, name, rules_name(name, spaces)) if inspect.isfunction(function) else function
    if name in registry and ("" in spaces or registry[name].published is None):
        registry[name].published = public
    for space in spaces:
        exports.setdefault(space, {})[name] = public
        if space == "Tensor":
            setattr(Tensor, name, public)
    return function


def rules_name(name, spaces):
    """Under which name dispatch/call_rules.py knows a function that is published in `spaces`."""
    if "" in spaces or name.startswith(("linalg.", "special.", "special_")):
        return name
    return f"{spaces[0]}.{name.rpartition('.')[2]}" if spaces else ""


def declare_inplace(op, info, kernel, spaces=("Tensor",)):
    """The operator `name_` beside `name`, with the same formulas; a method if `name` is one."""
    inplace = Operator(op.name + "_", info)
    inplace.make_call = lambda: positional_call(inplace, info.signature)
    inplace.register(K.CPU, kernel)
    inplace.register(K.META, lambda keys, self, *args: checked_meta(info, self, args))
    register_inplace_keys(inplace, info.derivatives)
    public = public_function(inplace, info.signature, rules=f"Tensor.{inplace.name}")
    public.__doc__ = f"In-place version of `{op.name}`: changes this tensor and returns it."
    info.public_inplace = asking(public)
    publish(inplace.name.rpartition(".")[2], public, ("Tensor",) if "Tensor" in spaces else ())


def register_inplace_keys(op, derivatives):
    op.register(K.AD_INPLACE_OR_VIEW, bumping_kernel(op))
    if derivatives is not None:
        op.register(K.AUTOGRAD, inplace_kernel(op, derivatives))


def checked_meta(info, self, args):
    info.fake(self, *args)
    return self


def results_type(name, outputs):
    """How several results are handed out: as PyTorch's named tuples."""
    return None if len(outputs) == 1 else return_type(name.rpartition(".")[2].removesuffix("_dim"), tuple(outputs))


# ---- kernels --------------------------------------------------------------------------------------------------

ARRAY_KERNEL = """\
def cpu(keys, {names}):
    try:
        found = silently(function, {arrays})
    except Exception:
        explain(fake, ({names},))
        raise
    return from_array(found) if found.__class__ is ndarray else wrapped(found, results)
"""
ARRAY = "({0}._array if {0}._array is not None else array_of({0})) if isinstance({0}, Tensor) else unwrapped({0})"


def array_kernel(function, signature, fake, results):
    """The CPU kernel around a function of arrays: tensors among the arguments become their arrays.

    It is written out for the arguments' names, since every operator pays for it.
    """
    arrays = [ARRAY.format(n) if n in signature.possible_tensors else n for n in signature.names]
    source = ARRAY_KERNEL.format(names=", ".join(signature.names), arrays=", ".join(arrays))
    scope = {"function": positional(function, signature), "explain": explain, "fake": fake, "from_array": from_array,
             "ndarray": np.ndarray, "wrapped": wrapped, "results": results, "array_of": array_of, "Tensor": Tensor,
             "unwrapped": unwrapped, "silently": silently}
    return function_from(source, "cpu", f"CPU kernel around {function.__qualname__}", scope)


def unwrapped(a):
    """The array of a tensor, of each tensor in a list; anything else as it is."""
    if isinstance(a, Tensor):
        return array_of(a)
    if (a.__class__ is list or a.__class__ is tuple) and any(isinstance(b, Tensor) for b in a):
        return [array_of(b) if isinstance(b, Tensor) else b for b in a]
    return a


def wrapped(found, results=None):
    """Tensors from arrays: one, a tuple, or a named tuple."""
    if found.__class__ is np.ndarray:
        return from_array(found)
    if isinstance(found, (tuple, list)):
        made = [wrapped(f) for f in found]
        return results(*made) if results is not None else tuple(made)
    return from_array(np.asarray(found))


def writing_kernel(function):
    def cpu(keys, self, *args):
        refuse_overlap(self)
        elementwise.refuse_partial_overlap(self, args)
        silently(function, array_of(self), *[unwrapped(a) for a in args])
        return self
    return cpu


def copying_kernel(op):
    """In place by computing the result and copying it over."""
    def cpu(keys, self, *args):
        refuse_overlap(self)
        result = op.redispatch(keys, self, *args)
        check_result(op.name + "_", self, result._shape, result._dtype)
        silently(np.copyto, array_of(self), array_of(result), "unsafe")
        return self
    return cpu


def register_meta(op, fake):
    """The meta kernel: the fake rule, as tensors without data."""
    if fake is None:
        return

    def meta(keys, *args):
        found = fake(*args)
        if isinstance(found, Fake):
            return fake_tensor(found)
        results = results_type(op.name, op.info.outputs)
        tensors = [fake_tensor(f) for f in found]
        return results(*tensors) if results is not None else tuple(tensors)
    op.register(K.META, meta)


def fake_tensor(fake):
    return meta_tensor(fake.shape, fake.dtype, fake.stride)


def view_kernel(function):
    def explicit(keys, self, *args):
        found = function(self, *args)
        if isinstance(found, list):
            return tuple([alias(self, *geometry_of_one) for geometry_of_one in found])
        return alias(self, *found)
    return explicit


def composite_kernel(function, signature):
    """Call a composition of operators."""
    call = positional(function, signature)
    return lambda keys, *args: call(*args)


# ---- the ADInplaceOrView kernels ------------------------------------------------------------------------------

def tracking_kernel(op, function, is_multi_output):
    """Views remember their base. While nobody observes, the one view of a strided tensor is made here at once."""
    def ad_inplace_or_view(keys, self, *args):
        if observer.sees_kernels or keys & (K.SPARSE_CPU | K.PYTHON):
            result = op.redispatch(keys & K.BELOW_AD_INPLACE_OR_VIEW, self, *args)
            if keys & K.PYTHON and not keys & K.SPARSE_CPU:
                place_wrappers(result, self, lambda: function(self, *args))
            return tracked(result, self)
        found = function(self, *args)
        if found.__class__ is list:
            return tracked(tuple([alias(self, *one) for one in found]), self)
        view = alias(self, *found)
        mark_view(view, self)
        return view

    def tracked(result, self):
        if isinstance(result, Tensor):
            mark_view(result, self)
        else:
            for part in result:
                mark_view(part, self, is_multi_output)
        return result
    return ad_inplace_or_view


def place_wrappers(result, base, geometries):
    """A class with `__torch_dispatch__` has answered for a view. Its tensors without memory count versions with their
    base and lie where the view would, which gradients of what is written into them need to know.
    """
    parts = (result,) if isinstance(result, Tensor) else result
    tensors = [i for i, part in enumerate(parts) if isinstance(part, Tensor) and part is not base]
    wrappers = [i for i in tensors if parts[i]._keys & K.PYTHON and has_no_memory(parts[i]._storage)]
    if wrappers:
        places = geometries()
        places = places if places.__class__ is list else [places]
        for i in wrappers:
            parts[i]._counter, parts[i]._offset = counter_of(base), places[i][2]


def has_no_memory(storage):
    return storage.__class__ is UntypedStorage and storage.buffer is None


def bumping_kernel(op):
    """In-place operators bump the version counter, once they have succeeded."""
    def ad_inplace_or_view(keys, self, *args):
        if not self._keys & K.AUTOGRAD and not state.inference:
            raise RuntimeError("Inplace update to inference tensor outside InferenceMode is not allowed.You can make "
                               "a clone to get a normal tensor before doing inplace update.See "
                               "https://github.com/pytorch/rfcs/pull/17 for more details.")
        op.redispatch(keys & K.BELOW_AD_INPLACE_OR_VIEW, self, *args)
        bump_version(self)
        return self
    return ad_inplace_or_view


# ---- out= -----------------------------------------------------------------------------------------------------

def public_out(op, out, args):
    """Serve `out=` of a public function, unless a mode or the class of an argument, or of `out`, takes the call over."""
    relevant = list(flattened((out, *args)))
    if has_torch_function(relevant):
        positional, keywords = as_written(op.info.signature, args)
        return handle_torch_function(op.public, relevant, *positional, out=out, **keywords)
    return write_out(op, out, args)


def write_out(op, out, args):
    """Serve `out=`: compute, resize `out` where it does not fit, copy. RuntimeError where autograd would be needed."""
    outs = out if isinstance(out, (tuple, list)) and len(op.info.outputs) > 1 else (out,)
    refuse_outs(op.name, outs, args)
    if op.info.kind == "pointwise":
        elementwise.refuse_partial_overlap(out, args)
        if elementwise.write_directly(op, out, args):
            bump_version(out)
            return out
    fill_outs(op.name, outs, op.call(*args))
    return out if len(op.info.outputs) == 1 else named_outs(op, outs)


def taking_out(function):
    """Let a function that is made of operators serve `out=` as they do (a tuple, where it returns several tensors)."""
    @functools.wraps(function)
    def with_out(*args, out=None, **kwargs):
        if out is None:
            return function(*args, **kwargs)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        refuse_outs(function.__name__, outs, (*args, *kwargs.values()))
        fill_outs(function.__name__, outs, function(*args, **kwargs))
        return out
    return with_out


def refuse_outs(name, outs, args):
    """What is no tensor, and what autograd would be needed for, is no `out`."""
    for target in outs:
        require_tensor_out(name, target)
    flat = [b for a in args for b in (a if isinstance(a, (list, tuple)) else (a,))]
    if state.grad_enabled and any([isinstance(t, Tensor) and tracks(t) for t in (*outs, *flat)]):
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, "
                           "but one of the arguments requires grad.")
    if state.forward_ad and has_tangent((*outs, *flat)):
        raise NotImplementedError(f"Trying to use forward AD with {name.removesuffix('_dim')}_out that does not "
                                  "support it because it is an out= function")


def fill_outs(name, outs, found):
    """Copy each result to its `out`, if the dtypes allow it."""
    for target, result in zip(outs, (found,) if isinstance(found, Tensor) else found):
        check_out_dtype(name, result._dtype, target._dtype)
        elementwise.check_cast(name, result._dtype, target._dtype)
        make_fit(target, result, name in ROW_BY_ROW)
        elementwise.hand_over(target, result)


def named_outs(op, outs):
    """Several `out` tensors, as PyTorch's named tuple."""
    name = f"{op.name.replace('.', '_').removesuffix('_dim')}_out"
    return return_type(name, tuple(op.info.outputs))(*outs)


def require_tensor_out(name, out):
    """TypeError for an `out` that is no tensor."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")


# Whose `out` lies row by row if it has to be resized; others' lies as the result would.
ROW_BY_ROW = frozenset(("cholesky", "cholesky_solve", "kron", "special_ndtr"))


def make_fit(target, result, is_row_by_row):
    """Give `out` the result's shape and strides, if it has another shape; what is written then counts as the one
    change."""
    shape, stride = result._shape, stride_of(result)
    if target._shape == shape:
        return
    if target.numel():
        warnings.warn(RESIZED.format(list(target._shape), list(shape)), UserWarning, stacklevel=6)
    resize_elements(target, shape, geometry.contiguous_strides(shape) if is_row_by_row
                    else geometry.preserve_format_strides(shape, stride))


RESIZED = ("An output with one or more elements was resized since it had shape {}, which does not match the required "
           "output shape {}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized "
           "unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero "
           "elements with t.resize_(0).")
