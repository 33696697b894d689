"""The backward pass: order, accumulation, targets, freeing."""
import gc
import weakref

import pytest


def order_of(torch, nodes):
    """Names of the nodes in the order in which they ran."""
    ran = []
    for name, node in nodes.items():
        node.register_hook(lambda grad_inputs, grad_outputs, name=name: ran.append(name))
    return ran


def test_later_operators_run_first(torch):
    x = torch.ones(2, requires_grad=True)
    a = x * 2
    b = x * 3
    d = a * 4
    e = b * 5
    out = d + e
    ran = order_of(torch, {"a": a.grad_fn, "b": b.grad_fn, "d": d.grad_fn, "e": e.grad_fn, "out": out.grad_fn})
    out.sum().backward()
    assert ran == ["out", "e", "d", "b", "a"]


@pytest.mark.parametrize("count", [2, 3])
def test_the_leaves_of_one_node_are_filled_in_the_order_of_its_inputs(torch, count):
    leaves = [torch.ones(2, requires_grad=True) for _ in range(count)]
    filled = []
    for i, leaf in enumerate(leaves):
        leaf.register_post_accumulate_grad_hook(lambda t, i=i: filled.append(i))
    torch.cat(leaves).sum().backward()
    assert filled == list(range(count))


def test_a_diamond_waits_for_all_gradients(torch):
    a = torch.ones((), requires_grad=True)
    b = a + a
    c = b + b
    d = b + c
    d.backward()
    assert a.grad.item() == 6.0


def test_two_edges_lead_to_one_accumulator(torch):
    y = torch.ones(2, requires_grad=True)
    edges = (y + y).grad_fn.next_functions
    assert edges[0][0] is edges[1][0] and edges[0][0].variable is y
    assert edges[0][0].name().endswith("AccumulateGrad")


def test_the_accumulator_is_the_same_while_a_graph_holds_it(torch):
    x = torch.ones(2, requires_grad=True)
    first, second = x * 2, x * 3
    assert first.grad_fn.next_functions[0][0] is second.grad_fn.next_functions[0][0]


def test_constants_have_no_edge(torch):
    x = torch.ones(2, requires_grad=True)
    assert (x * torch.ones(2)).grad_fn.next_functions[1] == (None, 0)


def test_gradients_accumulate_into_the_same_tensor(torch):
    x = torch.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first and x.grad.tolist() == [5.0, 5.0, 5.0]


def test_the_gradient_given_is_not_aliased(torch):
    x = torch.ones(3, requires_grad=True)
    given = torch.ones(3)
    (x + 0).backward(given)
    x.grad.add_(1)
    assert given.tolist() == [1.0, 1.0, 1.0]


def test_both_summands_own_their_gradient(torch):
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    (a + b).sum().backward()
    a.grad.add_(1)
    assert b.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_gradient_has_the_strides_of_its_dense_leaf(torch):
    x = torch.ones(2, 3).t().clone().requires_grad_()
    assert x.stride() == (1, 3)
    (x * torch.ones(3, 2)).sum().backward()
    assert x.grad.stride() == (1, 3)


def test_backward_twice_needs_the_saved_tensors(torch):
    x = torch.ones(2, requires_grad=True)
    y = x.exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_a_graph_that_saves_nothing_runs_twice(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_retain_graph_keeps_the_saved_tensors(torch):
    x = torch.ones(2, requires_grad=True)
    y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad[0].item() == pytest.approx(2 * 2.718281828, rel=1e-6)


def test_only_a_single_element_starts_by_itself(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()


def test_a_tensor_outside_any_graph_cannot_start(torch):
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        torch.ones(1).backward()


def test_a_start_of_the_wrong_shape_is_refused(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(torch.ones(3))


def test_grad_leaves_the_leaves_alone(torch):
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    grad_x, = torch.autograd.grad((x * y).sum(), x)
    assert grad_x.tolist() == [1.0, 1.0] and x.grad is None and y.grad is None


def test_grad_reaches_a_target_on_the_way_to_another(torch):
    x = torch.ones(2, requires_grad=True)
    middle = x * 3
    out = (middle * middle).sum()
    of_middle, of_x = torch.autograd.grad(out, [middle, x])
    assert of_middle.tolist() == [6.0, 6.0] and of_x.tolist() == [18.0, 18.0]


def test_grad_of_an_unused_input(torch):
    x, unused = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x.sum(), [x, unused])
    assert torch.autograd.grad(x.sum(), [x, unused], allow_unused=True)[1] is None
    assert torch.autograd.grad(x.sum(), [x, unused], materialize_grads=True)[1].tolist() == [0.0, 0.0]


def test_nodes_off_the_way_to_the_targets_do_not_run(torch):
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    side = y * 2
    ran = order_of(torch, {"side": side.grad_fn})
    torch.autograd.grad((x * 3 + side).sum(), x)
    assert ran == []


def test_backward_into_named_inputs(torch):
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    middle = x * 3
    (middle * y).sum().backward(inputs=[middle])
    assert middle.grad.tolist() == [1.0, 1.0] and x.grad is None and y.grad is None


def test_several_roots(torch):
    x = torch.ones(2, requires_grad=True)
    torch.autograd.backward([(x * 2).sum(), x * 3], [None, torch.ones(2)])
    assert x.grad.tolist() == [5.0, 5.0]


def test_the_same_root_twice(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    torch.autograd.backward([y, y])
    assert x.grad.tolist() == [4.0, 4.0]


def test_a_leaf_can_be_the_root(torch):
    x = torch.ones(1, requires_grad=True)
    x.backward()
    assert x.grad.tolist() == [1.0]


def test_second_derivative(torch):
    x = torch.ones(3, requires_grad=True)
    first, = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [3.0] * 3 and second.tolist() == [6.0] * 3


def test_second_derivative_through_a_saved_result(torch):
    x = torch.zeros(2, requires_grad=True)
    first, = torch.autograd.grad(x.exp().sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == [1.0, 1.0]


@pytest.fixture
def each_warning(torch):
    """Warnings that come once per program come each time, whatever ran before in this process."""
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


def test_create_graph_makes_grad_a_new_differentiable_tensor(torch, each_warning):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    before = x.grad
    with pytest.warns(UserWarning, match="create_graph=True"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad is not before and x.grad.requires_grad and before.tolist() == [1.0, 1.0]
    x.grad = None


def test_output_nr_becomes_input_nr(torch):
    x = torch.eye(2).requires_grad_()
    values, vectors = torch.linalg.eigh(x)
    product = x @ vectors
    assert (values.output_nr, vectors.output_nr) == (0, 1)
    assert values.grad_fn is vectors.grad_fn
    assert product.grad_fn.next_functions[1] == (vectors.grad_fn, 1)


def test_an_unused_output_stays_undefined(torch):
    x = torch.tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=True)
    _, vectors = torch.linalg.eigh(x)
    seen = []
    vectors.grad_fn.register_prehook(lambda grads: seen.append(grads))
    vectors[0, 0].backward()
    assert seen[0][0] is None and seen[0][1] is not None


def test_a_chain_of_100_000_additions():
    import teachtorch as torch
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    node = weakref.ref(y.grad_fn)
    y.backward(torch.ones(1))
    assert x.grad.tolist() == [1.0]
    del y
    assert node() is None


def test_a_graph_is_freed_by_reference_counting_alone():
    import teachtorch as torch
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(2, requires_grad=True)
        y = (x.exp() * x).relu().sum()
        nodes = [weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.next_functions[0][0])]
        del y
        assert [node() for node in nodes] == [None, None]
    finally:
        gc.enable()


def test_a_leaf_lives_as_long_as_its_graph(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    x_grads = []
    x.register_hook(lambda grad: x_grads.append(grad.tolist()))
    del x
    gc.collect()
    y.sum().backward()
    assert x_grads == [[2.0, 2.0]]
