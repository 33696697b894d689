"""Sample arguments for teachtorch/ops/resize.py."""

from tests.samples import sample, x

LINE, IMAGE, VOLUME = x(2, 2, 4), x(1, 2, 3, 4), x(1, 1, 2, 3, 2)
OF_DIMENSION = {
    "1": (LINE, (7,), (2,), (1.9,)),
    "2": (IMAGE, (5, 3), (6, 2), (1.7, 0.8)),
    "3": (VOLUME, (3, 2, 5), (1, 4, 2), (1.5, 0.7, 2.5)),
}
NAMES = (
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "upsample_linear1d",
    "upsample_bilinear2d",
    "upsample_trilinear3d",
    "upsample_bicubic2d",
    "_upsample_bilinear2d_aa",
    "_upsample_bicubic2d_aa",
)

SAMPLES = {
    "pixel_shuffle": [sample(x(2, 8, 2, 3), 2), sample(x(9, 2, 2), 3), sample(x(0, 4, 2, 2), 2)],
    "pixel_unshuffle": [sample(x(2, 2, 4, 6), 2), sample(x(1, 3, 6), 3)],
    "channel_shuffle": [sample(x(2, 6, 3), 3)],
}
for _name in NAMES:
    _t, _larger, _smaller, _scales = OF_DIMENSION[next(c for c in _name if c.isdigit())]
    _scaled = tuple(int(n * s) for n, s in zip(_t.shape[2:], _scales))
    SAMPLES[_name] = [sample(_t, _larger), sample(_t, _smaller, False), sample(_t, _scaled, False, _scales)]
    SAMPLES[f"{_name}_backward"] = [sample(x(*_t.shape[:2], *_larger), _t.shape, False, None)]
    if "nearest" not in _name:
        SAMPLES[_name].append(sample(_t, _larger, True))
