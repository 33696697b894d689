"""Hooks: their order, what they may change, what they follow."""
import pytest


def test_the_order_of_all_hooks(torch):
    seen = []
    leaf = torch.ones(2, requires_grad=True)
    a = leaf * 2
    note = seen.append
    a.grad_fn.register_prehook(lambda grads: note("a node pre"))
    a.grad_fn.register_hook(lambda grad_inputs, grads: note("a node post"))
    a.register_hook(lambda grad: note("a tensor 1"))
    a.register_hook(lambda grad: note("a tensor 2"))
    accumulator = a.grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda grads: note("leaf node pre"))
    accumulator.register_hook(lambda grad_inputs, grads: note("leaf node post"))
    leaf.register_hook(lambda grad: note("leaf tensor"))
    leaf.register_post_accumulate_grad_hook(lambda t: note(f"leaf accumulated {t.grad.tolist()}"))
    a.sum().backward()
    assert seen == ["a tensor 1", "a tensor 2", "a node pre", "a node post", "leaf tensor", "leaf node pre",
                    "leaf accumulated [2.0, 2.0]", "leaf node post"]


def test_a_tensor_hook_replaces_the_gradient(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: grad * 10)
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


def test_retain_grad_takes_the_value_after_all_tensor_hooks(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 10)
    y.sum().backward()
    assert y.grad.tolist() == [10.0, 10.0]


def test_a_hook_may_not_change_the_size(torch):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda grad: grad.sum())
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        (x * 2).sum().backward()


def test_a_leaf_hook_survives_the_graph(torch):
    x = torch.ones(2, requires_grad=True)
    seen = []
    handle = x.register_hook(lambda grad: seen.append(1))
    for _ in range(3):
        (x * 2).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    assert seen == [1, 1, 1]


def test_after_an_inplace_change_hooks_stay_and_retain_grad_moves(torch):
    x = torch.ones(1, requires_grad=True)
    a = x * 2
    seen = []
    a.register_hook(lambda grad: seen.append(grad.item()))
    a.retain_grad()
    a.mul_(5)
    a.sum().backward()
    assert seen == [5.0] and a.grad.item() == 1.0


def test_hooks_need_a_gradient(torch):
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(1).register_hook(print)
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_hooks_run_in_grad_for_a_leaf_target(torch):
    x = torch.ones(1, requires_grad=True)
    seen = []
    x.register_hook(lambda grad: seen.append("tensor"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append("post"))
    torch.autograd.grad(x * 2, x)
    assert seen == ["tensor"]


def test_a_node_post_hook_replaces_the_gradients(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda grad_inputs, grads: tuple(None if g is None else g * 3 for g in grad_inputs))
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_a_node_post_hook_sees_gradients_of_the_inputs_shapes(torch):
    """Broadcasting is undone before post-hooks run."""
    row, matrix, seen = torch.ones(3, requires_grad=True), torch.ones(2, 3, requires_grad=True), []
    product = row * matrix
    product.grad_fn.register_hook(lambda grad_inputs, grads: seen.append([tuple(g.shape) for g in grad_inputs]))
    product.sum().backward()
    assert seen == [[(3,), (2, 3)]]
