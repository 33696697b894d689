"""What a leaf is, what requires grad, and the grad modes."""
import pytest


def test_leaf_truth_table(torch):
    plain = torch.ones(2)
    leaf = torch.ones(2, requires_grad=True)
    assert plain.is_leaf and (plain * 2).is_leaf and leaf.is_leaf
    assert not (leaf * 2).is_leaf and leaf.detach().is_leaf
    assert not torch.ones(2, requires_grad=True).to(torch.float64).is_leaf
    assert torch.ones(2, requires_grad=True).to(torch.float32).is_leaf
    with torch.no_grad():
        assert (leaf * 2).is_leaf


def test_reading_grad_of_a_non_leaf_warns(torch):
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None


def test_only_floating_tensors_require_grad(torch):
    with pytest.raises(RuntimeError, match="only Tensors of floating point dtype can require gradients"):
        torch.ones(2, dtype=torch.int64).requires_grad_()


def test_only_leaves_change_requires_grad(torch):
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = False


def test_retain_grad_needs_requires_grad(torch):
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        torch.ones(1).retain_grad()


def test_detach_shares_memory_and_version(torch):
    x = torch.ones(3, requires_grad=True)
    d = x.detach()
    assert d.data_ptr() == x.data_ptr() and not d.requires_grad and d._base is None
    d.add_(1)
    assert x._version == 1 and x.tolist() == [2.0, 2.0, 2.0]


def test_data_has_a_version_of_its_own(torch):
    x = torch.ones(3)
    x.data.add_(1)
    assert x._version == 0 and x.tolist() == [2.0, 2.0, 2.0]


def test_gradients_flow_through_a_child_of_a_detached_tensor(torch):
    x = torch.ones(2, requires_grad=True)
    b = x * 2
    c = b * 3
    b.detach_()
    c.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0] and b.is_leaf


def test_assigned_gradients_must_fit(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        x.grad = torch.ones(3)
    with pytest.raises(RuntimeError):
        x.grad = torch.ones(2, dtype=torch.float64)
    with pytest.raises(TypeError):
        x.grad = 1.0


def test_no_grad_and_enable_grad_nest(torch):
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_no_grad_decorates_functions_and_generators(torch):
    @torch.no_grad()
    def enabled():
        return torch.is_grad_enabled()

    @torch.no_grad()
    def states():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    assert not enabled() and torch.is_grad_enabled()
    for state in states():
        assert not state and torch.is_grad_enabled()


def test_no_grad_is_undone_by_an_exception(torch):
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert torch.is_grad_enabled()


def test_set_grad_enabled_acts_at_once(torch):
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    assert torch.is_grad_enabled()


def test_versions_tick_under_no_grad(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        x.add_(1)
    assert x._version == 1 and x.is_leaf and x.requires_grad


def test_inference_tensors(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
    assert y.is_inference() and not y.requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        y._version
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * y
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode is not allowed"):
        y.add_(1)


def test_grad_mode_belongs_to_the_thread(torch):
    import threading
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_a_saved_tensor_changed_in_place_is_an_error(torch):
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch\.FloatTensor \[3\]\]"):
        y.sum().backward()


def test_a_value_that_nobody_saved_may_change(torch):
    x = torch.ones(3, requires_grad=True)
    y = x + 1
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_inplace_on_a_leaf_is_refused_and_changes_nothing(torch):
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[:2].mul_(2)
    assert x.tolist() == [1.0, 1.0, 1.0] and x._version == 0


def test_a_view_whose_base_has_changed_gets_one_new_node(torch):
    base = torch.ones(4, requires_grad=True) * 1
    view = base.view(2, 2)
    base.mul_(2)
    node = view.grad_fn
    assert node.name() == "AsStridedBackward0" and view.grad_fn is node
