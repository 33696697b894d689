"""What stands around the numbers, for anything with the public surface of a tensor."""
import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from teachtorch.core.dtype import float32, float64, from_numpy
from teachtorch.printing import printoptions, tensor_format, tensor_str


@dataclasses.dataclass
class Surface:
    """The part of a tensor that printing reads."""

    values: np.ndarray
    place: str = "cpu"
    requires_grad: bool = False
    grad_fn: object = None

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: from_numpy(self.values.dtype))

    @property
    def device(self):
        return Place(self.place)

    def detach(self):
        return self

    def cpu(self):
        return self

    def float(self):
        return dataclasses.replace(self, values=self.values.astype(np.float32))

    def numpy(self):
        return self.values

    def item(self):
        return self.values.item()


class Place(str):
    type = property(lambda self: self.split(":")[0])


class Tensor(Surface):
    pass


class Parameter(Tensor):
    pass


class Image(Tensor):
    pass


class Mask(Parameter):
    pass


def made(values, dtype=np.float32, kind=Tensor, **fields):
    return kind(np.array(values, dtype), **fields)


def node(name):
    return SimpleNamespace(name=lambda: name)


@pytest.mark.parametrize("tensor, expected", [
    (made([1.0, 2.0]), "tensor([1., 2.])"),
    (made(1.0), "tensor(1.)"),
    (made([[1, 2], [3, 4]], np.int64), "tensor([[1, 2],\n        [3, 4]])"),
    (made([True], bool), "tensor([True])"),
    (made([1.0], np.float64), "tensor([1.], dtype=torch.float64)"),
    (made([1], np.int32), "tensor([1], dtype=torch.int32)"),
    (made([]), "tensor([])"),
    (made([], np.int64), "tensor([], dtype=torch.int64)"),
    (made(np.zeros((0, 3))), "tensor([], size=(0, 3))"),
    (made(np.zeros((2, 0)), bool), "tensor([], size=(2, 0), dtype=torch.bool)"),
    (made([1.0], requires_grad=True), "tensor([1.], requires_grad=True)"),
    (made([1.0], requires_grad=True, grad_fn=node("AddBackward0")), "tensor([1.], grad_fn=<AddBackward0>)"),
    (made([1.0], grad_fn=node("torch::autograd::CopySlices")), "tensor([1.], grad_fn=<CopySlices>)"),
    (made([1.0], place="sim:0"), "tensor([1.], device='sim:0')"),
    (made(np.zeros((2, 3)), place="meta"), "tensor(..., device='meta', size=(2, 3))"),
    (made(np.zeros(2), np.int64, place="meta"), "tensor(..., device='meta', size=(2,), dtype=torch.int64)"),
    (made([1.0], kind=Parameter, requires_grad=True), "tensor([1.], requires_grad=True)"),
    (made([1.0], kind=Image), "Image([1.])"),
    (made([1.0], kind=Mask), "Parameter(Mask([1.]))"),
])
def test_only_what_the_numbers_do_not_say_is_added(tensor, expected):
    assert tensor_str(tensor, default_dtype=float32) == expected


def test_the_default_dtype_goes_without_saying():
    assert tensor_str(made([1.0], np.float64), default_dtype=float64) == "tensor([1.])"
    assert tensor_str(made([1.0]), default_dtype=float64) == "tensor([1.], dtype=torch.float32)"


def test_a_suffix_that_does_not_fit_starts_a_line():
    with printoptions(linewidth=30):
        text = tensor_str(made([1.5, 2.5, 3.5], np.float64), default_dtype=float32)
    assert text == "tensor([1.5000, 2.5000,\n        3.5000],\n       dtype=torch.float64)"


def test_without_edge_items_the_size_is_told():
    with printoptions(edgeitems=0, threshold=1):
        assert tensor_str(made([1.0, 2.0])) == "tensor([...], size=(2,))"


def test_a_view_that_lost_its_history_is_invalid():
    class Lost(Tensor):
        @property
        def grad_fn(self):
            raise RuntimeError("this view was changed in no_grad mode")

        @grad_fn.setter
        def grad_fn(self, value):
            pass

    assert tensor_str(made([1.0], kind=Lost)) == "Lost([1.], grad_fn=<Invalid>)"


def test_the_tangent_of_a_dual_number_is_told():
    assert tensor_str(made([1.0]), tangent="tensor([2.])") == "tensor([1.], tangent=tensor([2.]))"


@pytest.mark.parametrize("value, spec, expected", [
    (1.5, ".2f", "1.50"), (1.5, "", "1.5"), (1.5, ">6", "   1.5"), (2.0, "e", "2.000000e+00")])
def test_a_zero_dimensional_tensor_formats_as_its_number(value, spec, expected):
    assert tensor_format(made(value), spec) == expected


@pytest.mark.parametrize("tensor", [made([1.0]), made(1.0, kind=Parameter), made(1.0, place="meta")])
def test_other_tensors_take_no_format_spec(tensor):
    with pytest.raises(TypeError, match="unsupported format string"):
        tensor_format(tensor, ".2f")
    assert tensor_format(tensor, "") == str(tensor)
