"""Samples for teachtorch/ops/bessel.py."""
from tests.samples import positive
from tests.samples.elementary import with_whole_numbers

EVERYWHERE = "bessel_j0 bessel_j1 modified_bessel_i0 modified_bessel_i1 spherical_bessel_j0 airy_ai".split()
ABOVE_ZERO = """bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1
                scaled_modified_bessel_k0 scaled_modified_bessel_k1""".split()

SAMPLES = {
    **{f"special_{name}": with_whole_numbers() for name in EVERYWHERE},
    **{f"special_{name}": with_whole_numbers(positive) for name in ABOVE_ZERO},
}
