"""Sampling of images at places that a grid names, and grids of affine maps (Jaderberg et al. 2015).

Both are made of other operators, which have their derivatives.
"""

import functools
import itertools
import operator as py
import warnings

from ..core.dtype import scalar_type_name
from ..kernels.resize import cubic_weights
from .declare import composite, exports, publish

MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


# ---- coordinates ---


def unnormalised(coordinate, size, align_corners):
    """From [-1, 1] to element numbers."""
    if align_corners:
        return (coordinate + 1) * ((size - 1) / 2)
    return ((coordinate + 1) * size - 1) / 2


def inside(coordinate, size, padding_mode, align_corners):
    """The coordinate brought into the image by the rule for what lies outside; zeros: left as it is."""
    if padding_mode == "zeros":
        return coordinate
    if padding_mode == "reflection":
        coordinate = reflected(coordinate, size, align_corners)
    return coordinate.clamp(0, size - 1)


def reflected(coordinate, size, align_corners):
    """The coordinate mirrored at the image's ends as often as needed."""
    low, span = (0, size - 1) if align_corners else (-0.5, size)
    if span == 0:
        return coordinate * 0
    distance = (coordinate - low).abs()
    turns = (distance.detach() / span).floor()
    rest = distance - turns * span
    return exports[""]["where"](turns % 2 == 0, rest, span - rest) + low


def picked(input, places):
    """The elements at whole coordinates, (N, C, *result), and whether they are inside, (N, 1, *result)."""
    space = input._shape[2:]
    flat, is_inside = 0, None
    for place, size in zip(places, space):
        own = (place >= 0) & (place < size)
        is_inside = own if is_inside is None else is_inside & own
        flat = flat * size + place.clamp(0, size - 1).long()
    batch, channels = input._shape[:2]
    index = flat.reshape((batch, 1, -1)).expand(batch, channels, -1)
    found = input.flatten(2).gather(2, index).reshape((batch, channels, *flat._shape[1:]))
    return found, is_inside.unsqueeze(1)


def weighted_sum(input, corners):
    """The sum over (places, weights) of the weights' product times the element, zero outside."""
    total = None
    for corner in corners:
        found, is_inside = picked(input, [place for place, _ in corner])
        weight = functools.reduce(py.mul, [w for _, w in corner])
        part = found * (weight.unsqueeze(1) * is_inside)
        total = part if total is None else total + part
    return total


# ---- kinds of interpolation ---


def nearest(input, coordinates, padding_mode, align_corners):
    places = [
        inside(c, n, padding_mode, align_corners).detach().round()
        for c, n in zip(coordinates, input._shape[2:])
    ]
    found, is_inside = picked(input, places)
    flat = sum([c.sign() * 0 for c in coordinates])  # the grid's gradient is zero, not missing
    return found * (is_inside + flat.unsqueeze(1))


def bilinear(input, coordinates, padding_mode, align_corners):
    sides = []
    for coordinate, size in zip(coordinates, input._shape[2:]):
        coordinate = inside(coordinate, size, padding_mode, align_corners)
        low = coordinate.detach().floor()
        part = coordinate - low
        sides.append(((low, 1 - part), (low + 1, part)))
    return weighted_sum(input, itertools.product(*sides))


def bicubic(input, coordinates, padding_mode, align_corners):
    sides = []
    for coordinate, size in zip(coordinates, input._shape[2:]):
        low = coordinate.detach().floor()
        weights = cubic_weights(coordinate - low)
        places = [inside(low + tap - 1, size, padding_mode, align_corners) for tap in range(4)]
        sides.append(tuple(zip([place.round() for place in places], weights)))
    return weighted_sum(input, itertools.product(*sides))


KINDS = (bilinear, nearest, bicubic)


# ---- grid_sample ---


def check_grid(input, grid, mode):
    """PyTorch's refusals (aten/src/ATen/native/GridSamplerUtils.h)."""
    shape, grid_shape = input._shape, grid._shape
    start = "grid_sampler(): expected "
    if shape[0] != grid_shape[0]:
        raise RuntimeError(
            f"{start}grid and input to have same batch size, but got input with sizes {list(shape)} and "
            f"grid with sizes {list(grid_shape)}"
        )
    if grid_shape[-1] != len(shape) - 2:
        raise RuntimeError(
            f"{start}grid to have size {len(shape) - 2} in last dimension, but got grid with sizes "
            f"{list(grid_shape)}"
        )
    if len(shape) not in (4, 5) or len(shape) != len(grid_shape):
        raise RuntimeError(
            f"{start}4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(shape)} and grid with sizes {list(grid_shape)}"
        )
    for dim, size in enumerate(shape[2:], 2):
        if size <= 0:
            raise RuntimeError(
                f"{start}input to have non-empty spatial dimensions, but input has sizes {list(shape)} "
                f"with dimension {dim} being empty"
            )
    if len(shape) == 5 and mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")


@composite("grid_sampler", spaces=("",))
def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sample with its modes as numbers, in the order of MODES and PADDINGS."""
    check_grid(input, grid, interpolation_mode)
    if not input._dtype.is_floating_point:
        raise NotImplementedError(
            f'"grid_sampler_{len(input._shape) - 2}d_cpu_kernel_impl" not implemented for '
            f"'{scalar_type_name(input._dtype)}'"
        )
    if grid._dtype is not input._dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_type_name(input._dtype)} but found {scalar_type_name(grid._dtype)}"
        )
    space = input._shape[2:]
    coordinates = [unnormalised(c, n, align_corners) for c, n in zip(reversed(grid.unbind(-1)), space)]
    return KINDS[interpolation_mode](input, coordinates, PADDINGS[padding_mode], align_corners)


@composite("grid_sampler_2d", spaces=("",))
def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sampler of images (N, C, H, W)."""
    require_rank(input, grid, 4)
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


@composite("grid_sampler_3d", spaces=("",))
def grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners):
    """grid_sampler of volumes (N, C, D, H, W)."""
    require_rank(input, grid, 5)
    return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)


def require_rank(input, grid, rank):
    if len(input._shape) != rank:
        raise RuntimeError(f"grid_sampler(): expected {rank}D input and grid with same number of dimensions, but got "
                           f"input with sizes {list(input._shape)} and grid with sizes {list(grid._shape)}")


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The input (N, C, [D,] H, W) at the places of `grid` (N, ..., 2 or 3): x, y[, z] from -1 to 1 across the image.

    Args:
        mode: "bilinear", "nearest" or "bicubic" (images only).
        padding_mode: what lies outside: "zeros", "border" or "reflection".
        align_corners: whether -1 and 1 are the middles of the corner pixels, else their outer edges.
    """
    if mode not in MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    if align_corners is None:
        warn_of_corners()
    return grid_sampler(input, grid, MODES.index(mode), PADDINGS.index(padding_mode), bool(align_corners))


def warn_of_corners():
    warnings.warn(
        "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
        "specify align_corners=True if the old behavior is desired. See the documentation of grid_sample for "
        "details.",
        stacklevel=3,
    )


# ---- affine_grid ---


def base_coordinates(theta, size, align_corners):
    """The middles of `size` pixels from -1 to 1."""
    found = (
        exports[""]["linspace"](-1, 1, size, dtype=theta._dtype, device=theta._device)
        if size > 1
        else theta.new_zeros(size)
    )
    return found if align_corners else found * ((size - 1) / size)


@composite("affine_grid_generator", spaces=("",))
def affine_grid_generator(theta, size, align_corners):
    """The grid of affine_grid."""
    count = len(size) - 2
    axes = [base_coordinates(theta, n, align_corners) for n in size[2:]]
    grids = list(reversed(exports[""]["meshgrid"](*axes, indexing="ij")))
    points = exports[""]["stack"]([*grids, grids[0] * 0 + 1], -1).reshape((1, -1, count + 1))
    found = points.expand(size[0], -1, -1).bmm(theta.transpose(1, 2))
    return found.reshape((size[0], *size[2:], count))


def affine_grid(theta, size, align_corners=None):
    """The places (N, [D,] H, W, 2 or 3) that maps `theta` (N, 2, 3) or (N, 3, 4) give to the pixels of images
    of `size`, for grid_sample."""
    if align_corners is None:
        warn_of_corners()
    if not theta._dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta._dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {tuple(size)}."
        )
    count = len(size) - 2
    if theta._shape[1:] != (count, count + 1):
        raise ValueError(
            f"Expected a batch of {count}D affine matrices of shape Nx{count}x{count + 1} for size "
            f"{tuple(size)}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    return affine_grid_generator(theta, tuple(size), bool(align_corners))


for _function in (grid_sample, affine_grid):
    publish(_function.__name__, _function, ("nn.functional",))
