"""Views changed in place while autograd records: gradients, histories, versions and refusals."""

import gc
import weakref

import pytest

import teachtorch as torch


@pytest.fixture
def leaf():
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)


def values(t):
    return t.detach().tolist()


def test_writing_a_slice_cuts_the_gradient_there_and_only_there(leaf):
    base = leaf * 2
    base[0] = 7.0
    base.sum().backward()
    assert values(leaf.grad) == [[0, 0, 0], [2, 2, 2]]


def test_scaling_a_slice_scales_its_gradient(leaf):
    base = leaf * 1
    base[:, 1:].mul_(10)
    base.sum().backward()
    assert values(leaf.grad) == [[1, 10, 10], [1, 10, 10]]


def test_the_incoming_gradient_is_not_changed(leaf):
    base = leaf * 1
    base[0].mul_(10)
    start = torch.ones(2, 3)
    base.backward(start)
    assert values(start) == [[1, 1, 1], [1, 1, 1]]


def test_the_base_becomes_copy_slices_and_views_follow_when_asked(leaf):
    base = leaf * 1
    before, other = base[0], base.t()
    before.mul_(2)
    assert "CopySlices" in base.grad_fn.name()
    assert before.grad_fn.name() == "AsStridedBackward0"
    assert other.grad_fn.name() == "AsStridedBackward0"
    other.sum().backward()
    assert values(leaf.grad) == [[2, 2, 2], [1, 1, 1]]


def test_a_view_made_before_its_base_changed_has_the_new_gradient(leaf):
    base = leaf * 1
    view = base[1]
    base.mul_(3)
    view.sum().backward()
    assert values(leaf.grad) == [[0, 0, 0], [3, 3, 3]]


def test_a_plain_base_joins_the_graph_when_a_tracked_value_is_written(leaf):
    base = torch.zeros(4)
    view = base[1:3]
    view.copy_(leaf[0, :2])
    assert base.requires_grad and not base.is_leaf
    (base * torch.tensor([9.0, 2.0, 3.0, 9.0])).sum().backward()
    assert values(leaf.grad) == [[2, 3, 0], [0, 0, 0]]


def test_both_factors_of_an_inplace_square_are_checked(leaf):
    base = leaf * 2
    base.mul_(base)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        base.sum().backward()


def test_a_saved_result_inside_a_view_can_be_differentiated_twice(leaf):
    base = leaf * 1
    base[0].exp_()
    (first,) = torch.autograd.grad(base.sum(), leaf, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), leaf)
    assert values(second)[1] == [0, 0, 0]
    assert values(second)[0] == pytest.approx(values(leaf.exp())[0])


def test_nested_views_refer_to_the_root(leaf):
    base = leaf * 1
    inner = base[0][1:]
    assert inner._base is base
    inner.zero_()
    base.sum().backward()
    assert values(leaf.grad) == [[1, 0, 0], [1, 1, 1]]


def test_view_and_base_share_one_version(leaf):
    base = leaf.detach().clone()
    view = base.t()[0]
    view.add_(1)
    base[0, 0] = 3.0
    assert base._version == view._version == 2


def test_retained_gradients_are_those_of_the_new_value(leaf):
    base = leaf * 2
    base.retain_grad()
    base[0] = 5.0
    base.sum().backward()
    assert values(base.grad) == [[1, 1, 1], [1, 1, 1]]


def test_retain_grad_of_a_view_whose_base_has_changed(leaf):
    base = leaf * 2
    view = base[0]
    base.mul_(3)
    view.retain_grad()
    view.sum().backward()
    assert values(view.grad) == [1, 1, 1]


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.add_(1),
        lambda t: t.__setitem__(0, 1.0),
        lambda t: t.__setitem__([0], 1.0),
        lambda t: t[0].zero_(),
    ],
)
def test_a_leaf_and_its_views_refuse(leaf, change):
    with pytest.raises(
        RuntimeError, match="leaf Variable that requires grad is being used in an in-place operation"
    ):
        change(leaf)
    assert values(leaf) == [[1, 2, 3], [4, 5, 6]] and leaf._version == 0


def test_outputs_of_a_multi_view_function_refuse(leaf):
    base = leaf * 1
    for view in (base.unbind(0)[1], base.unbind(0)[1][1:]):
        with pytest.raises(
            RuntimeError, match="is a view and is being modified inplace.*returns multiple views"
        ):
            view.zero_()


def test_a_multi_view_output_is_lost_when_its_base_changes(leaf):
    base = leaf * 1
    view = base.unbind(0)[0]
    base.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified inplace"):
        _ = view * 1


def test_a_view_made_under_no_grad_refuses_and_gradients_end_at_it(leaf):
    base = leaf * 1
    with torch.no_grad():
        view = base[0]
    assert view.requires_grad and view.is_leaf
    (view * 2).sum().backward()
    assert view.grad is None and leaf.grad is None
    with pytest.raises(RuntimeError, match="created in no_grad mode and is being modified inplace"):
        view.mul_(2)


def test_a_view_of_a_no_grad_view_refuses_by_its_own_name(leaf):
    base = leaf * 1
    with torch.no_grad():
        view = base[0]
    with pytest.raises(
        RuntimeError, match="Output 0 of Slice is a view of a view which was created in no_grad mode"
    ):
        view[1:].zero_()


def test_a_view_made_in_inference_mode_refuses(leaf):
    base = leaf * 1
    with torch.inference_mode():
        view = base[0]
    with pytest.raises(
        RuntimeError, match="A view was created in inference mode and is being modified inplace"
    ):
        view.mul_(2)


def test_a_refused_write_changes_nothing():
    base = torch.zeros(3)
    for write in (
        lambda: base.__setitem__([0, 3], 1.0),
        lambda: base.__setitem__(slice(0, 2), torch.ones(3)),
        lambda: base.index_add_(0, torch.tensor([0, 7]), torch.ones(2)),
        lambda: base.scatter_(0, torch.tensor([1, -1]), 1.0),
        lambda: base.put_(torch.tensor([0, 9]), torch.ones(2)),
        lambda: base.masked_scatter_(torch.tensor([True, True, False]), torch.ones(1)),
        lambda: base.index_put_((torch.tensor([0, 5]),), torch.ones(2), accumulate=True),
    ):
        with pytest.raises((IndexError, RuntimeError)):
            write()
        assert values(base) == [0, 0, 0] and base._version == 0


def test_the_graph_of_a_changed_view_goes_with_its_last_tensor(leaf):
    gc.disable()
    try:
        base = leaf * 1
        base[0].exp_()
        node = weakref.ref(base.grad_fn)
        del base
        assert node() is None
    finally:
        gc.enable()
