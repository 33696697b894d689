"""Copies, conversions and memory formats against PyTorch."""
import pytest

torch = pytest.importorskip("torch")

from tests.parity.same_call import (  # noqa: E402
    assert_same_error, assert_same_gradient, assert_same_node, assert_same_result)

import teachtorch  # noqa: E402

IMAGES = "torch.arange(120.).reshape(2, 3, 4, 5)"
CALLS = f"""x.clone() | p.clone() | p[::2].clone() | x.expand(2, 3, 4).clone()
p.clone(memory_format=torch.contiguous_format) | {IMAGES}.clone(memory_format=torch.channels_last)
{IMAGES}.contiguous(memory_format=torch.channels_last)
{IMAGES}.to(memory_format=torch.channels_last).clone()
torch.zeros(4, 1, 2, 2).to(memory_format=torch.channels_last)
torch.zeros(4, 1, 2, 2).contiguous(memory_format=torch.channels_last) | p.contiguous() | x.t().contiguous()
torch.empty(1, 2, 3, 4, 5).contiguous(memory_format=torch.channels_last_3d).zero_() | x.to(torch.float64)
x.to(torch.int64) | p.to(torch.float64) | p.double() | x.half() | x.bool() | n[:, :1].long() | i.byte()
i.char() | i.short() | i.int() | b.float() | u.to(i) | x.to("cpu", torch.float64)
x.to(device="cpu", dtype=int) | x.to(float) | x.type(torch.int32) | x.type("torch.LongTensor")
x.type_as(i) | x.to(torch.float32, copy=True)
x.t().to(torch.float64, memory_format=torch.contiguous_format) | x.clone().copy_(x[0]) | x.clone().copy_(i)
i.clone().copy_(x) | u.clone().copy_(i) | b.clone().copy_(x) | x.clone().copy_(7) | x.clone().zero_()
x.clone().fill_(2) | u.clone().fill_(-1) | x.expand(2, 3, 4).fill_(1) | x.expand(2, 3, 4).zero_()
x.clone().fill_(s) | i.clone().fill_(torch.tensor(2.7)) | torch.fill(p, 3) | torch.fill(i, s)
x.cpu()""".replace("\n", " | ").split(" | ")

ERRORS = """x.contiguous(memory_format=torch.channels_last) | x.to(memory_format=torch.channels_last)
x.to("nowhere") | x.clone().copy_(x.t()) | x[0].clone().copy_(x) | x.clone().copy_("a")
x.expand(2, 3, 4).copy_(y) | x.clone().fill_(x) | u.clone().fill_(300) | torch.fill(u, 1e10)
x.type("nothing") | x.half().fill_(1e6) | torch.empty(2, device="meta").to("cpu")
x.t().contiguous(memory_format=torch.preserve_format)
torch.empty(2, memory_format=torch.preserve_format)""".replace("\n", " | ").split(" | ")

GRADIENTS = """x.clone() | x.t().contiguous() | x.double() | x.to(torch.float64) | (x * 1).copy_(x)
(x * 1).fill_(2) | (x * 1).zero_() | x.half().float()
x.to("cpu", copy=True)""".replace("\n", " | ").split(" | ")


@pytest.mark.parametrize("call", CALLS)
def test_result(call):
    assert_same_result(torch, call)


@pytest.mark.parametrize("call", ERRORS)
def test_error(call):
    assert_same_error(torch, call, same_text='"a"' not in call and "nowhere" not in call)


@pytest.mark.parametrize("call", GRADIENTS)
def test_gradient_and_node(call):
    assert_same_gradient(torch, call, "x")
    assert_same_node(torch, call, "x")


@pytest.mark.parametrize("library", [torch, teachtorch], ids=["torch", "teachtorch"])
class TestFacts:
    def test_nothing_changes_means_the_same_object(self, library):
        x = library.ones(2, 3)
        assert x.to(library.float32) is x and x.to("cpu") is x and x.float() is x and x.contiguous() is x
        assert x.to(x) is x and x.type(library.float32) is x and x.cpu() is x and x.type_as(x) is x

    def test_meta_has_a_shape_and_no_data(self, library):
        x = library.ones(2, 3, dtype=library.float64).t().to("meta")
        assert x.is_meta and x.shape == (3, 2) and x.dtype == library.float64 and x.stride() == (1, 3)

    def test_integer_conversions_leave_the_graph(self, library):
        assert not library.ones(2, requires_grad=True).long().requires_grad

    def test_formats_print_as_their_names(self, library):
        assert repr(library.channels_last) == "torch.channels_last"
        assert repr(library.ones(1).layout) == "torch.strided"

    def test_type_names(self, library):
        x = library.ones(1)
        assert x.type() == "torch.FloatTensor" and x.bool().type() == "torch.BoolTensor"
        assert isinstance(x, library.FloatTensor) and not isinstance(x, library.LongTensor)
