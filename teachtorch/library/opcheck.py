"""`opcheck`: does an operator keep the rules that autograd, fake tensors and tracing rely on?

It does not check that gradients are right: torch.autograd.gradcheck does.
"""
from ..autograd import grad
from ..autograd.grad_mode import no_grad
from ..dispatch import keys as K
from ..dispatch.nested import tensors_in
from ..ops.namespaces import OpOverload, OpOverloadPacket
from ..tensor import Tensor
from .custom_ops import CustomOpDef
from .definitions import operator_named

DEFAULT_TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


NO_AUTOGRAD_KERNEL = (
    "{}: at least one output of this operator has requires_grad=True but the operator does not have an autograd kernel "
    "defined at an autograd key (e.g. DispatchKey::Autograd). This could mean that you have incorrectly registered an "
    "autograd kernel to a non-Autograd DispatchKey, which may lead to silently incorrect results. If your operator "
    "consists of regular PyTorch operations, consider not using an operator at all or registering your operator as "
    "CompositeImplicitAutograd. If you have an autograd.Function registered to a backend (CPU/CUDA/XPU) key, the "
    "correct location for it is the Autograd key.")


class OpCheckError(Exception):
    """A rule that the operator breaks."""


def opcheck(op, args, kwargs=None, *, test_utils=DEFAULT_TESTS, raise_exception=True, atol=None, rtol=None):
    """Run the checks on one call; returns {name of the check: "SUCCESS" or the error}.

    test_schema: what changes is what the schema says, and results share no memory with arguments.
    test_autograd_registration: the gradient is registered where autograd sees it. test_faketensor: the fake
    rule gives the results' shapes, strides and dtypes. test_aot_dispatch_dynamic: forward and backward run on
    meta tensors too. OpCheckError, unless `raise_exception` is False.
    """
    if not isinstance(op, (CustomOpDef, OpOverload, OpOverloadPacket)):
        raise ValueError("opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. "
                         f"torch.ops.aten.sin.default, got {type(op)}")
    found = operator_named(op)
    names = (test_utils,) if isinstance(test_utils, str) else test_utils
    if not set(names) <= set(CHECKS):
        raise ValueError(f"opcheck(op, ..., test_utils={names}), expected test_utils to be subset of {tuple(CHECKS)} "
                         "but it was not")
    results = {name: outcome(CHECKS[name], found, args, kwargs or {}) for name in names}
    for name, result in results.items():
        if raise_exception and isinstance(result, Exception):
            raise OpCheckError(f"opcheck(op, ...): {name} failed with {result} (scroll up for stack trace)") \
                    from result
    return results


def outcome(check, op, args, kwargs):
    try:
        check(op, args, kwargs)
    except Exception as error:
        return error
    return "SUCCESS"


def copies(values):
    """The arguments with fresh tensors, leaves that require grad where theirs do."""
    return [copied(v) for v in values]


def copied(value):
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    return [copied(item) for item in value] if isinstance(value, (list, tuple)) else value


def check_schema(op, args, kwargs):
    """Only arguments marked as changed change."""
    used = copies(args)
    before = copies(args)
    with no_grad():
        op.public(*used, **kwargs)
    for argument, old, new in zip(op.schema.arguments, before, used):
        changed = any([not same(a, b) for a, b in zip(tensors_in([old]), tensors_in([new]))])
        if changed and not argument.is_mutable:
            raise RuntimeError(f"Argument {argument.name} is not defined as mutable but was mutated")


def same(a, b):
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def check_autograd_registration(op, args, kwargs):
    """A kernel of a backend that records a graph of its own would be missed by whoever looks at the operator."""
    if not any([t.requires_grad for t in tensors_in(args)]) or op.schema.is_mutable:
        return
    found = op.public(*copies(args), **kwargs)
    outputs = [t for t in results_of(found) if t.dtype.is_floating_point]
    if K.AUTOGRAD not in op.kernels and "CompositeImplicit" not in op.kernels and any([t.requires_grad
                                                                                       for t in outputs]):
        raise AssertionError(NO_AUTOGRAD_KERNEL.format(op.name))


def results_of(found):
    return list(tensors_in(found if isinstance(found, (tuple, list)) else [found]))


def on_meta(values):
    return [v.detach().to("meta").requires_grad_(v.requires_grad) if isinstance(v, Tensor)
            else on_meta(v) if isinstance(v, (list, tuple)) else v for v in values]


def check_fake(op, args, kwargs):
    """The fake rule's results are those of the real call, but for the data."""
    with no_grad():
        real = results_of(op.public(*copies(args), **kwargs))
        fake = results_of(op.public(*on_meta(copies(args)), **kwargs))
    context = (f"When comparing the output of {op.name.replace('::', '.')}.default on FakeTensor and concrete Tensors, "
               "found")
    if len(real) != len(fake):
        raise AssertionError(f"{context} mismatch in number of returns {len(fake)} != {len(real)}")
    for i, (r, f) in enumerate(zip(real, fake)):
        difference = difference_of(r, f)
        if difference:
            where = "" if len(real) == 1 else f" for output[{i}]"
            raise RuntimeError(f"{context} mismatched tensor metadata{where}: {difference}")


def difference_of(real, fake):
    """What of the metadata differs, in words; None if nothing."""
    if real.shape != fake.shape:
        return f"Shapes {real.shape} and {fake.shape} are not equal!"
    if real.dtype != fake.dtype:
        return f"Dtypes {real.dtype} and {fake.dtype} are not equal!"
    for i, (there, here, size) in enumerate(zip(real.stride(), fake.stride(), real.shape)):
        if there != here and size > 1 and real.numel():
            return f"Stride mismatch! Strides are {real.stride()} and {fake.stride()} (mismatched at {i})!"
    return None


def check_aot(op, args, kwargs):
    """Forward and backward run without data and give gradients of the arguments' shapes."""
    inputs = copies(args)
    wanted = [t for t in tensors_in(inputs) if t.requires_grad]
    if op.schema.is_mutable or not wanted or op.backward is None and K.AUTOGRAD in op.kernels:
        check_fake(op, args, kwargs)
        return
    for made in (inputs, on_meta(inputs)):
        leaves = [t for t in tensors_in(made) if t.requires_grad]
        outputs = [t for t in results_of(op.public(*made, **kwargs)) if t.requires_grad]
        grads = grad(outputs, leaves, [o.new_ones(o.shape) for o in outputs], allow_unused=True)
        for leaf, g in zip(leaves, grads):
            if g is not None and g.shape != leaf.shape:
                raise RuntimeError(f"the gradient of an argument of shape {tuple(leaf.shape)} has "
                                   f"{tuple(g.shape)}")


CHECKS = {"test_schema": check_schema, "test_autograd_registration": check_autograd_registration,
          "test_faketensor": check_fake, "test_aot_dispatch_static": check_aot, "test_aot_dispatch_dynamic": check_aot}
