"""Products of matrices and vectors, and sums with them. All of them are one product: kernels/cuda/gemm.py."""

from ...core import dtype as dt
from ...core import geometry
from ..elementwise import scalar_of
from .launching import FLOATS, kernel_for, takes, viewed
from .rows import folded


def product(launch, out, a, b):
    """Put out = a @ b into the stream, for two matrices or two batches of them, of any strides."""
    from ...kernels.cuda import gemm

    if a._dtype is not b._dtype or out._dtype is not a._dtype or not takes(a) or a._dtype is dt.bool:
        return False
    target, left, right = [batched(launch.strided(t)) for t in (out, a, b)]
    launch.enqueue(lambda stream: gemm.multiply(target, left, right, stream))


def batched(strided):
    from ...kernels.cuda.arrays import Strided

    missing = 3 - len(strided.shape)
    return Strided(strided.memory, (1,) * missing + strided.shape, (0,) * missing + strided.strides)


def as_column(t):
    return viewed(t, (*t._shape, 1), (*t._stride, 1))


def as_row(t):
    return viewed(t, (1, *t._shape), (0, *t._stride))


@kernel_for("mm", "bmm")
def matrix_product(launch, outputs, args):
    return product(launch, outputs[0], *args)


@kernel_for("mv")
def matrix_vector_product(launch, outputs, args):
    a, v = args
    return product(launch, as_column(outputs[0]), a, as_column(v))


def multiplied(x, y):
    return x * y


@kernel_for("dot", "vdot")
def dot(launch, outputs, args):
    """A product, then a fold that many blocks share: as a matrix product it would be one thread's work."""
    x, y = args
    if x._dtype not in FLOATS or x._dtype is not y._dtype:
        return False
    products = launch.empty(x._shape, x._dtype)
    launch.compute(multiplied, products, [x, y], x._dtype)
    return folded(launch, "sum", outputs[0], products, [0])


# ---- with a sum --------------------------------------------------------------------------------------------


def weighted_sum(x, y, beta, alpha):
    return beta * x + alpha * y


def weighted(y, alpha):
    return alpha * y


def added(launch, out, bias, beta, alpha, multiply):
    """out = beta * bias + alpha * (what `multiply(tensor)` puts into a tensor of out's shape).

    As in PyTorch, with beta = 0 nothing of `bias` is looked at, not even its NaN.
    """
    if out._dtype not in FLOATS or bias._dtype is not out._dtype or bias.is_cpu:
        return False
    found = launch.empty(out._shape, out._dtype)
    if multiply(found) is False:
        return False
    beta, alpha = scalar_of(beta, out._dtype), scalar_of(alpha, out._dtype)
    if beta == 0:
        launch.compute(weighted, out, [found, alpha], out._dtype)
    else:
        launch.compute(weighted_sum, out, [bias, found, beta, alpha], out._dtype)


def sum_of_two(launch, outputs, args, multiply):
    bias, a, b, beta, alpha = (*args, *(1, 1)[len(args) - 3 :])
    return added(launch, outputs[0] if outputs else bias, bias, beta, alpha, lambda out: multiply(out, a, b))


@kernel_for("addmm", "addmm_", "baddbmm", "baddbmm_")
def sum_and_product(launch, outputs, args):
    return sum_of_two(launch, outputs, args, lambda out, a, b: product(launch, out, a, b))


@kernel_for("addmv", "addmv_")
def sum_and_vector(launch, outputs, args):
    return sum_of_two(
        launch, outputs, args, lambda out, a, v: product(launch, as_column(out), a, as_column(v))
    )


@kernel_for("addr", "addr_")
def sum_and_outer(launch, outputs, args):
    return sum_of_two(launch, outputs, args, lambda out, v, w: product(launch, out, as_column(v), as_row(w)))


@kernel_for("addbmm", "addbmm_")
def sum_of_batch(launch, outputs, args):
    """The sum over the batch is part of one long product: (rows, batch * depth) @ (batch * depth, columns)."""

    def multiply(out, a, b):
        batch, rows, depth = a._shape
        long = launch.empty((rows, batch, depth), a._dtype)
        launch.copy(long, viewed(a, *geometry.permute(a._shape, a._stride, a._offset, (1, 0, 2))))
        left = viewed(long, (rows, batch * depth), (batch * depth, 1))
        b = launch.contiguous(b)
        return product(launch, out, left, viewed(b, (batch * depth, b._shape[2]), (b._shape[2], 1)))

    return sum_of_two(launch, outputs, args, multiply)
