"""Derivatives of a function from samples of it, by differences."""
from ..core import geometry
from ..tensor import Tensor
from .declare import exports, publish


def gradient(input, *, spacing=None, dim=None, edge_order=1):
    """The derivatives of a sampled function along dimensions, by central differences; a list with one tensor for each.

    `spacing`: the distance of neighbours (a number, or one for each dimension), or their coordinates (a list of 1-D
    tensors). `dim`: an int or several; all if left out. `edge_order`: 1 or 2, of the differences at the borders.
    """
    dims = gradient_dims(input, spacing, dim)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input.size(d) < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    spacings = spacing if isinstance(spacing, (tuple, list)) else [1.0 if spacing is None else spacing] * len(dims)
    values = input if input._dtype.is_floating_point else input.to(exports[""]["get_default_dtype"]())
    return tuple([slope_along(values, d, s, edge_order) for d, s in zip(dims, spacings)])


def gradient_dims(input, spacing, dim):
    """The dimensions meant. RuntimeError where one appears twice, or the spacings are of another number."""
    given = range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = geometry.wrap_dims(tuple(given), input.dim())
    if isinstance(spacing, (tuple, list)) and len(spacing) != len(dims):
        wanted = (f"'self.dim() = {input.dim()}', since dim argument was not given" if dim is None
                  else f"dim (= {len(dims)})")
        raise RuntimeError("torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
                           f"{wanted}, but got a list of length {len(spacing)}")
    return dims


def slope_along(f, dim, spacing, edge_order):
    """Differences along one dimension; between equal distances the weights of three neighbours are (-1/2, 0, 1/2)."""
    count = f.size(dim)
    steps = steps_of(f, dim, spacing)

    def at(start, length):
        return f.narrow(dim, start, length)

    first, last = (at(1, 1) - at(0, 1)) / steps[0], (at(count - 1, 1) - at(count - 2, 1)) / steps[-1]
    if edge_order == 2:
        first = weighted(at, 0, edge_weights(steps[0], steps[1], -1))
        last = weighted(at, count - 3, edge_weights(steps[-1], steps[-2], 1)[::-1])
    parts = [first]
    if count > 2:
        parts.append(inner_slopes(f, dim, spacing, steps, count))
    return exports[""]["cat"]([*parts, last], dim)


def steps_of(f, dim, spacing):
    """The distances between neighbours, as Python numbers."""
    if isinstance(spacing, Tensor) and spacing.dim():
        return spacing.diff().tolist()
    return [float(spacing)] * (f.size(dim) - 1)


def inner_slopes(f, dim, spacing, steps, count):
    before, here, after = (f.narrow(dim, i, count - 2) for i in range(3))
    if not (isinstance(spacing, Tensor) and spacing.dim()):
        return (after - before) / (2 * float(spacing))
    shape = [-1 if d == dim else 1 for d in range(f.dim())]
    left, right = [exports[""]["tensor"](part, dtype=f.dtype).view(shape) for part in (steps[:-1], steps[1:])]
    return (-right / (left * (left + right)) * before + (right - left) / (left * right) * here
            + left / (right * (left + right)) * after)


def edge_weights(near, far, sign):
    """Weights of the three values from an edge inwards, for a derivative of second order there."""
    return (sign * (2 * near + far) / (near * (near + far)), -sign * (near + far) / (near * far),
            sign * near / (far * (near + far)))


def weighted(at, start, weights):
    a, b, c = [at(start + i, 1) * w for i, w in enumerate(weights)]
    return a + b + c


publish("gradient", gradient, ("",))
