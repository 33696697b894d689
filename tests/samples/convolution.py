"""Sample arguments for teachtorch/ops/: convolution.py and unfolding.py."""

from tests.samples import sample, x


def settings(stride=1, padding=0, dilation=1, transposed=False, output_padding=0, groups=1, count=2):
    """The arguments of `convolution` after its tensors."""
    return (
        [stride] * count,
        [padding] * count,
        [dilation] * count,
        transposed,
        [output_padding] * count,
        groups,
    )


LINE, IMAGE, VOLUME = x(2, 4, 7), x(2, 4, 5, 6), x(1, 2, 3, 4, 3)

SAMPLES = {
    "convolution": [
        sample(IMAGE, x(2, 4, 3, 2), x(2), *settings(2, 1)),
        sample(IMAGE, x(4, 2, 2, 2), None, *settings(dilation=2, groups=2)),
        sample(LINE, x(4, 3, 3), x(3), *settings(2, 1, 1, True, 1, count=1)),
        sample(IMAGE, x(4, 1, 2, 2), x(2), *settings(transposed=True, groups=2)),
        sample(LINE, x(4, 2, 2), None, *settings(1, 0, 3, True, 2, count=1)),
        sample(VOLUME, x(2, 2, 2, 2, 2), x(2), *settings(count=3)),
        sample(x(0, 4, 5, 5), x(2, 4, 3, 3), x(2), *settings()),
        sample(x(6, 5, 2, 4).transpose(2, 3, 1, 0), x(2, 2, 3, 4).transpose(0, 3, 1, 2), None, *settings()),
    ],
    "_convolution_backward_weight": [
        sample(x(2, 3, 2, 2), IMAGE, (3, 4, 3, 3), *settings(2)),
        sample(x(2, 2, 6, 7), IMAGE, (4, 1, 2, 2), *settings(transposed=True, groups=2)),
    ],
    "conv1d": [
        sample(LINE, x(2, 4, 3), x(2), padding=1),
        sample(x(4, 7), x(2, 4, 3)),
        sample(LINE, x(2, 4, 2), padding="same"),
    ],
    "conv2d": [
        sample(IMAGE, x(2, 4, 3, 3), x(2), stride=2),
        sample(IMAGE, x(2, 4, 2, 3), padding="same"),
        sample(x(4, 5, 6), x(2, 4, 1, 1), padding="valid"),
    ],
    "conv3d": [sample(VOLUME, x(2, 1, 2, 1, 2), groups=2)],
    "conv_transpose1d": [sample(LINE, x(4, 2, 3), x(2), stride=2), sample(x(4, 7), x(4, 2, 3))],
    "conv_transpose2d": [sample(IMAGE, x(4, 1, 2, 3), x(2), stride=2, output_padding=1, groups=2)],
    "conv_transpose3d": [sample(VOLUME, x(2, 1, 2, 2, 1), padding=1, stride=2)],
    "im2col": [
        sample(IMAGE, (2, 3), (1, 1), (1, 0), (2, 1)),
        sample(x(3, 4, 4), (2, 2), (2, 1), (0, 0), (1, 1)),
    ],
    "col2im": [
        sample(x(2, 8, 6), (3, 4), (2, 2), (1, 1), (0, 0), (1, 1)),
        sample(x(4, 9), (5, 5), (2, 2), (1, 1), (1, 1), (2, 2)),
    ],
}
