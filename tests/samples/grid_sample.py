"""Sample arguments for teachtorch/ops/grid_sample.py."""

from tests.samples import sample, x

IMAGE, GRID = x(2, 2, 4, 5), x(2, 3, 2, 2, low=-0.9, high=0.9)

SAMPLES = {
    "grid_sampler": [
        sample(IMAGE, GRID, 0, 0, False),
        sample(IMAGE, GRID, 0, 1, True),
        sample(IMAGE, GRID, 0, 2, False),
        sample(IMAGE, GRID, 2, 0, False),
        sample(x(1, 2, 3, 4, 3), x(1, 2, 2, 1, 3, low=-0.9, high=0.9), 0, 0, True),
    ],
    "grid_sampler_2d": [sample(IMAGE, GRID, 0, 0, False), sample(IMAGE, GRID, 2, 1, True)],
    "grid_sampler_3d": [sample(x(1, 2, 3, 4, 3), x(1, 2, 2, 1, 3, low=-0.9, high=0.9), 0, 1, False)],
    "affine_grid_generator": [
        sample(x(2, 2, 3), (2, 1, 3, 4), False),
        sample(x(1, 3, 4), (1, 1, 2, 3, 2), True),
    ],
}
