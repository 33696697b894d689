"""gradcheck: is a function's backward the derivative of its forward?

Slow mode compares whole Jacobians, element by element: central differences against backward with one-hot gradients,
run twice. Fast mode compares one number, vᵀJu, for random unit vectors u and v; on a mismatch it repeats in slow mode
for a message that says where. https://pytorch.org/docs/stable/notes/gradcheck.html
"""
import collections.abc
import warnings

import numpy as np

from ..core import dtype as dt
from ..kernels.random import Generator
from ..tensor import Entries, Tensor, array_of, entries_of, from_array, from_entries
from . import forward_ad
from .api import grad
from .function import Function


class GradcheckError(RuntimeError):
    """A derivative is wrong.

    The message names the output and the input and shows both Jacobians; a note names the element.
    """


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
              check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False,
              masked=None):
    """Whether |analytical - numerical| <= atol + rtol * |numerical| for every output and input.

    `inputs`: tensors (float64, of which at least one requires grad) and other arguments. False is returned, or a
    GradcheckError raised (`raise_exception`), where they differ; ValueError if no input requires grad. `masked`: of a
    sparse input only the elements that it holds are changed, and its gradient is looked at there alone; else all are.
    """
    if not (check_backward_ad or check_forward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    require("check_batched_grad", check_batched_grad, "check_backward_ad", check_backward_ad)
    require("check_batched_forward_grad", check_batched_forward_grad, "check_forward_ad", check_forward_ad)
    inputs = as_inputs(inputs)
    if any(is_sparse(t) for t in inputs):
        func, inputs = on_strided(func, inputs, bool(masked))
    check = _Check(func, inputs, eps, atol, rtol, nondet_tol)
    try:
        check.look_at_inputs()
        check.run(fast_mode, check_forward_ad, check_backward_ad, check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3,
                  gen_non_contig_grad_outputs=False, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
                  check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True,
                  fast_mode=False, masked=False):
    """gradcheck of the function's gradient, for random (or the given) gradients of its outputs."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    require("check_undefined_grad", check_undefined_grad, "check_rev_over_rev", check_rev_over_rev)
    require("check_batched_grad", check_batched_grad, "check_rev_over_rev", check_rev_over_rev)
    inputs = as_inputs(inputs)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        grad_outputs = [random_gradient(out, generator, gen_non_contig_grad_outputs)
                        for out in differentiable(func(*inputs))]
    grad_outputs = as_inputs(grad_outputs)

    def gradient(*args):
        arguments, starts = args[:len(inputs)], args[len(inputs):]
        arguments = [a.view_as(a) if is_differentiable(a) else a for a in arguments]
        outputs = differentiable(func(*arguments))
        wanted = [a for a in arguments if is_differentiable(a)]
        return tuple(g for g in grad(outputs, wanted, starts, create_graph=True, allow_unused=True) if g is not None)

    return gradcheck(gradient, (*inputs, *grad_outputs), eps=eps, atol=atol, rtol=rtol,
                     raise_exception=raise_exception, nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode)


def require(name, value, other_name, other):
    """AssertionError if one option is on without another that it needs."""
    if value and not other:
        raise AssertionError(f"Setting {name}=True requires {other_name} to be True")


def random_gradient(out, generator, non_contiguous):
    values = generator.standard_normal(tuple(out.shape)).astype(out.dtype.numpy)
    if non_contiguous and values.ndim:
        values = np.repeat(values[..., None], 2, axis=-1)[..., 0]
    return from_array(values).requires_grad_()


# ---- sparse inputs -----------------------------------------------------------------------------------------

def is_sparse(value):
    return isinstance(value, Tensor) and entries_of(value) is not None


def on_strided(func, inputs, masked):
    """(function, inputs) that say the same of strided tensors, one with all elements for each sparse input."""
    coalesced = [t.detach().coalesce() if is_sparse(t) else t for t in inputs]
    strided = [
        t.to_dense().requires_grad_(own.requires_grad) if is_sparse(t) else t for t, own in zip(coalesced, inputs)
    ]

    def of_strided(*args):
        given = [as_sparse(a, t, masked) if is_sparse(t) else a for t, a in zip(coalesced, args)]
        found = func(*given)
        if any(is_sparse(out) for out in as_outputs(found)):
            raise ValueError(
                "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on "
                "the output of fn for gradcheck."
            )
        return found
    return of_strided, tuple(strided)


def as_sparse(strided, like, masked):
    """The strided input as a sparse tensor with the places of `like` and, unless `masked`, those that are not zero."""
    array, dims = array_of(strided), like.sparse_dim()
    places = np.zeros(array.shape[:dims], bool)
    places[tuple(array_of(entries_of(like).indices))] = True
    if not masked:
        places |= (array != 0).any(tuple(range(dims, array.ndim)))
    indices = np.array(places.nonzero())

    class AsSparse(Function):
        @staticmethod
        def forward(ctx, value):
            return from_entries(Entries(from_array(indices), from_array(array[tuple(indices)]), True), array.shape)

        @staticmethod
        def backward(ctx, grad):
            return grad.to_dense()
    return AsSparse.apply(strided)


def as_inputs(inputs):
    return tuple(inputs) if isinstance(inputs, collections.abc.Sequence) else (inputs,)


def is_differentiable(value):
    return isinstance(value, Tensor) and value.requires_grad


def as_outputs(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def differentiable(result):
    return [t for t in as_outputs(result) if t.requires_grad]


class _Check:
    """One check: the function, its inputs and the tolerances."""

    def __init__(self, func, inputs, eps, atol, rtol, nondet_tol):
        self.func, self.inputs = func, inputs
        self.eps, self.atol, self.rtol, self.nondet_tol = eps, atol, rtol, nondet_tol
        self.outputs = []
        self.checked = [(i, t) for i, t in enumerate(inputs) if is_differentiable(t)]

    def look_at_inputs(self):
        if not self.checked:
            raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them "
                             "have requires_grad=True.")
        for i, t in self.checked:
            if t.dtype is not dt.float64:
                warnings.warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. "
                              "This check will likely fail if all the inputs are not of double precision floating "
                              "point or complex. ", stacklevel=3)
            if any(n > 1 and s == 0 for n, s in zip(t.shape, t.stride())):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that "
                    "are non-overlapping to be able to compute the numerical gradients correctly. You "
                    "should call .contiguous on the input before passing it to gradcheck."
                )

    def run(self, fast_mode, forward, backward, undefined):
        self.outputs = outputs = as_outputs(self.func(*self.inputs))
        if not any(out.requires_grad for out in outputs):
            self.expect_constant(outputs)
            return
        for o, out in enumerate(outputs):
            if not out.requires_grad:
                continue
            if backward:
                self.compare_fast(o, out) if fast_mode else self.compare_slow(o, out)
            if forward:
                self.compare_forward(o)
        if backward:
            self.expect_product_with_gradient(outputs)
            if undefined:
                self.expect_undefined_gradients_to_pass()

    # ---- numerical ------------------------------------------------------------------------------------------

    def value(self, o):
        """Output o at the inputs as they are now, as a flat array."""
        return np.array(array_of(as_outputs(self.func(*self.inputs))[o].detach())).reshape(-1)

    def difference(self, o, t, direction):
        """(f(x + eps d) - f(x - eps d)) / 2 eps, for a direction of the input's shape; the input is restored."""
        memory = array_of(t.detach())
        kept = memory.copy()
        try:
            memory[...] = kept - self.eps * direction
            below = self.value(o)
            memory[...] = kept + self.eps * direction
            return (self.value(o) - below) / (2 * self.eps)
        finally:
            memory[...] = kept

    def numerical_jacobian(self, o, t):
        """Of shape (elements of the input, elements of the output)."""
        rows = []
        for i in range(t.numel()):
            direction = np.zeros(t.numel())
            direction[i] = 1
            rows.append(self.difference(o, t, direction.reshape(t.shape)))
        like = self.value(o)
        return np.array(rows, like.dtype).reshape(t.numel(), like.size)

    def expect_constant(self, outputs):
        for o in range(len(outputs)):
            for i, t in self.checked:
                if np.abs(self.numerical_jacobian(o, t)).max(initial=0) > self.atol:
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    # ---- analytical -----------------------------------------------------------------------------------------

    def gradients(self, out, start, **options):
        """The inputs' gradients for one gradient of the output, as flat arrays; zeros where none flows."""
        found = grad(out, [t for _, t in self.checked], start, retain_graph=True, allow_unused=True, **options)
        return [np.zeros(t.numel(), t.dtype.numpy) if g is None else self.fitting(g, i, t)
                for g, (i, t) in zip(found, self.checked)]

    def fitting(self, g, i, t):
        if g.shape != t.shape or g.dtype is not t.dtype:
            raise GradcheckError(f"the gradient of input {i} has shape {tuple(g.shape)} and dtype {g.dtype}, the input "
                                 f"{tuple(t.shape)} and {t.dtype}")
        return np.array(array_of(g.detach())).reshape(-1)

    def analytical_jacobians(self, out):
        """For each input, of shape (elements of the input, elements of the output): a backward per output element."""
        columns = []
        for k in range(out.numel()):
            start = np.zeros(out.numel(), out.dtype.numpy)
            start[k] = 1
            columns.append(self.gradients(out, from_array(start.reshape(out.shape))))
        return [np.stack([column[i] for column in columns], 1) if columns else np.zeros((t.numel(), 0), t.dtype.numpy)
                for i, (_, t) in enumerate(self.checked)]

    # ---- comparisons ----------------------------------------------------------------------------------------

    def compare_slow(self, o, out):
        numerical = [self.numerical_jacobian(o, t) for _, t in self.checked]
        found = self.analytical_jacobians(out)
        self.expect_reentrant(found, self.analytical_jacobians(out))
        for (i, t), a, n in zip(self.checked, found, numerical):
            if not self.is_close(a, n):
                raise self.error(mismatch(o, i, from_array(a), from_array(n)), t, a, n)

    def error(self, text, t, analytical, numerical):
        """A GradcheckError with PyTorch's text, and a note that names the worst element."""
        error = GradcheckError(text)
        error.add_note(worst_element(t, analytical, numerical, self.atol + self.rtol * np.abs(numerical)))
        return error

    def is_close(self, analytical, numerical, atol=None):
        """Whether all |analytical - numerical| <= atol + rtol * |numerical|."""
        return np.allclose(np.asarray(analytical, np.float64), np.asarray(numerical, np.float64), self.rtol,
                           self.atol if atol is None else atol)

    def expect_reentrant(self, found, again):
        """Two backwards must give the same."""
        if any(np.abs(a - b).max(initial=0) > self.nondet_tol for a, b in zip(found, again)):
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
                "different values, although analytical gradient matches numerical gradient.The tolerance for "
                f"nondeterminism was {self.nondet_tol}.{MAY_BE_NONDETERMINISTIC}"
            )

    def compare_fast(self, o, out):
        """vᵀJu both ways; the tolerance grows with the vectors, since errors of all elements add up."""
        inputs, v = self.unit_vectors(o)
        start = from_array(v.reshape(out.shape))
        found = self.gradients(out, start)
        self.expect_reentrant(found, self.gradients(out, start))
        for place, ((i, t), u, gradient) in enumerate(zip(self.checked, inputs, found)):
            numerical = (v * self.difference(o, t, u.reshape(t.shape))).sum()
            analytical = (gradient * u).sum()
            if not self.is_close(analytical, numerical, self.atol * float(u.sum()) * float(v.sum())):
                slow = self.analytical_jacobians(out)[place], self.numerical_jacobian(o, t)
                raise self.error(mismatch(o, i, analytical, numerical) + self.in_slow_mode(*slow), t, *slow)

    def unit_vectors(self, o):
        """A random vector of length 1 for each input and for output o: the same in each check, and PyTorch's. None has
        negative entries, so that errors do not cancel."""
        generator = Generator()
        inputs = [unit_vector(generator, t) for _, t in self.checked]
        outputs = self.outputs[:o + 1]
        return inputs, [unit_vector(generator, out) for out in outputs if out.requires_grad][-1]

    def in_slow_mode(self, analytical, numerical):
        """What the message says of the whole Jacobians."""
        difference = np.abs(numerical - analytical).max()
        text = SLOW_MODE.format(from_array(numerical), from_array(analytical), difference)
        return text + SLOW_MODE_PASSES if self.is_close(analytical, numerical) else text

    def compare_forward(self, o):
        """Forward mode against the same differences, a tangent per input element."""
        for i, t in self.checked:
            rows = [self.tangent(o, i, k) for k in range(t.numel())]
            numerical = self.numerical_jacobian(o, t)
            analytical = np.array(rows, t.dtype.numpy).reshape(numerical.shape)
            if not self.is_close(analytical, numerical):
                text = mismatch(o, i, from_array(analytical), from_array(numerical), "computed with forward mode ")
                raise self.error(text, t, analytical, numerical)

    def tangent(self, o, i, k):
        direction = np.zeros(self.inputs[i].numel(), self.inputs[i].dtype.numpy)
        direction[k] = 1
        with forward_ad.dual_level():
            args = list(self.inputs)
            args[i] = forward_ad.make_dual(args[i], from_array(direction.reshape(args[i].shape)))
            out = as_outputs(self.func(*args))[o]
            found = forward_ad.unpack_dual(out).tangent
        return np.zeros(out.numel()) if found is None else array_of(found.detach()).reshape(-1)

    def expect_product_with_gradient(self, outputs):
        """A zero gradient must give zero: backward is linear in it."""
        for out in outputs:
            if out.requires_grad:
                start = from_array(np.zeros(tuple(out.shape), out.dtype.numpy))
                for values in self.gradients(out, start):
                    if np.any(values != 0):
                        raise GradcheckError("backward not multiplied by grad_output")

    def expect_undefined_gradients_to_pass(self):
        """Backward must cope with outputs that no gradient comes back to."""
        outputs = differentiable(self.func(*self.inputs))
        if len(outputs) < 2:
            return
        for out in outputs:
            try:
                self.gradients(out, from_array(np.ones(tuple(out.shape), out.dtype.numpy)))
            except RuntimeError as error:
                raise GradcheckError("Expected backward function to handle undefined output grads. Please look at "
                                     "\"Notes about undefined output gradients\" in "
                                     "\"tools/autograd/derivatives.yaml\"") from error


def unit_vector(generator, t):
    """A random vector of length 1, of a tensor's size and dtype."""
    vector = np.asarray(generator.uniform((t.numel(),), np.float32), t.dtype.numpy)
    return vector / np.linalg.norm(vector) if t.numel() else vector


def mismatch(o, i, analytical, numerical, mode=""):
    """PyTorch's message."""
    return (f"Jacobian {mode}mismatch for output {o} with respect to input {i},\n"
            f"numerical:{numerical}\nanalytical:{analytical}\n")


def worst_element(t, analytical, numerical, tolerance):
    """Where, and by how much, the Jacobians differ most beyond the tolerance."""
    excess = np.abs(analytical - numerical) - tolerance
    row, column = np.unravel_index(np.argmax(np.where(np.isnan(excess), np.inf, excess)), excess.shape)
    index = tuple(int(k) for k in np.unravel_index(row, tuple(t.shape))) if t.dim() else ()
    return (f"The largest excess is at element {index} of the input and element {column} of the (flattened) output: "
            f"analytical {analytical[row, column]:.9g}, numerical {numerical[row, column]:.9g}, difference "
            f"{abs(analytical[row, column] - numerical[row, column]):.3g}.")


SLOW_MODE = """
The above quantities relating the numerical and analytical jacobians are computed \nin fast mode. See: \
https://github.com/pytorch/pytorch/issues/53876 for more background \nabout fast mode. Below, we recompute numerical \
and analytical jacobians in slow mode:

Numerical:
 {}
Analytical:
{}

The max per-element difference (slow mode) is: {}.
"""
SLOW_MODE_PASSES = """\
Fast gradcheck failed but element-wise differences are small. This means that the
test might've passed in slow_mode!

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck:

If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `fast_mode=False` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_fast_mode=False`
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_fast_mode=False`"""
MAY_BE_NONDETERMINISTIC = """

NOTE: If your op relies on non-deterministic operations i.e., it is listed here:
https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
this failure might be expected.

If you are adding a new operator, please file an issue and then use one of the
workarounds. The workaround depends on how your test invokes gradcheck/gradgradcheck.
If the test
- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck
  with `nondet_tol=<tol>` as a keyword argument.
- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test
  to have `gradcheck_nondet_tol=<tol>`.
- is a Module test (e.g., in common_nn.py), then modify the corresponding
  module_test entry to have `gradcheck_nondet_tol=<tol>`
"""
