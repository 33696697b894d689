"""The forward operation behind a backward node's name."""

import pytest

from viz.graph_model import forward_name


@pytest.mark.parametrize(
    "name, forward",
    [
        ("MulBackward0", "mul"),
        ("LogSoftmaxBackward0", "log_softmax"),
        ("LinalgEighBackward0", "linalg_eigh"),
        ("MaxPool2DWithIndicesBackward0", "max_pool2d_with_indices"),
        ("MyFunctionBackward", "MyFunction"),
        ("CopySlices", "CopySlices"),
    ],
)
def test_name(name, forward):
    assert forward_name(name) == forward
