"""Checkpointing: the same gradients, less kept, everything run again as it was."""
import gc
import weakref

import pytest


def checkpoint_of(torch):
    import importlib
    return importlib.import_module(torch.__name__ + ".utils.checkpoint")


def leaf(torch, n=3):
    return torch.linspace(0.1, 1, n, dtype=torch.float64).requires_grad_()


BOTH = pytest.mark.parametrize("reentrant", [False, True])


@BOTH
def test_gradients_are_those_of_the_plain_call(torch, reentrant):
    x, plain = leaf(torch), leaf(torch)
    calls = []

    def segment(t):
        calls.append(1)
        return (t.sin() * t).exp()
    checkpoint_of(torch).checkpoint(segment, x, use_reentrant=reentrant).sum().backward()
    (plain.sin() * plain).exp().sum().backward()
    assert len(calls) == 2 and x.grad.tolist() == pytest.approx(plain.grad.tolist())


@BOTH
def test_random_draws_repeat_and_the_generator_goes_on(torch, reentrant):
    x = torch.ones(50, requires_grad=True)
    torch.manual_seed(3)
    y = checkpoint_of(torch).checkpoint(lambda t: t * torch.rand(50), x, use_reentrant=reentrant)
    after_forward = torch.get_rng_state().tolist()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist() and torch.get_rng_state().tolist() == after_forward


def test_without_the_generators_state_draws_differ(torch):
    x = torch.ones(50, requires_grad=True)
    y = checkpoint_of(torch).checkpoint(lambda t: t * torch.rand(50), x, use_reentrant=False, preserve_rng_state=False)
    y.sum().backward()
    assert x.grad.tolist() != y.tolist()


@BOTH
@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad=True")
def test_checkpoints_nest(torch, reentrant):
    checkpoint = checkpoint_of(torch).checkpoint
    x = leaf(torch)
    calls = []

    def inner(t):
        calls.append("inner")
        return t.sin().cos()

    def outer(t):
        calls.append("outer")
        return checkpoint(inner, t.exp(), use_reentrant=reentrant).tanh()
    checkpoint(outer, x, use_reentrant=reentrant).sum().backward()
    plain = leaf(torch)
    plain.exp().sin().cos().tanh().sum().backward()
    assert x.grad.tolist() == pytest.approx(plain.grad.tolist())
    assert calls.count("outer") == 2 and calls.count("inner") >= 2


@BOTH
def test_several_outputs_and_plain_arguments(torch, reentrant):
    x = leaf(torch)

    def segment(t, factor):
        return t * factor, "text", (t * t).sum()
    a, text, b = checkpoint_of(torch).checkpoint(segment, x, 3.0, use_reentrant=reentrant)
    (a.sum() + b).backward()
    assert text == "text" and x.grad.tolist() == pytest.approx([3 + 2 * v for v in leaf(torch).tolist()])


def test_grad_with_inputs_needs_the_other_form(torch):
    checkpoint = checkpoint_of(torch).checkpoint
    x = leaf(torch)
    found, = torch.autograd.grad(checkpoint(torch.sin, x, use_reentrant=False).sum(), x)
    assert found.tolist() == pytest.approx(x.cos().tolist())
    with pytest.raises(RuntimeError, match="use_reentrant=True, torch.utils.checkpoint is incompatible with .grad"):
        torch.autograd.grad(checkpoint(torch.sin, x, use_reentrant=True).sum(), x)


def test_second_backward_runs_the_segment_again(torch):
    x = leaf(torch)
    calls = []

    def segment(t):
        calls.append(1)
        return t.exp()
    y = checkpoint_of(torch).checkpoint(segment, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(calls) == 3 and x.grad.tolist() == pytest.approx([2 * v for v in x.exp().tolist()])


def test_the_repetition_stops_when_all_is_there(torch):
    module = checkpoint_of(torch)
    reached = []

    def segment(t):
        t = t.exp()
        reached.append(1)
        return t
    for stops in (True, False):
        reached.clear()
        with module.set_checkpoint_early_stop(stops):
            y = module.checkpoint(segment, leaf(torch), use_reentrant=False)
        y.sum().backward()
        assert len(reached) == (1 if stops else 2)


def test_second_derivatives(torch):
    x = leaf(torch)
    y = checkpoint_of(torch).checkpoint(lambda t: t ** 3, x, use_reentrant=False).sum()
    first, = torch.autograd.grad(y, x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == pytest.approx([6 * v for v in x.tolist()])


def test_a_segment_that_changes_is_found_out(torch):
    module = checkpoint_of(torch)
    calls = []

    def shrinking(t):
        calls.append(1)
        return t.sin().sin() if len(calls) == 1 else t * 2

    y = module.checkpoint(shrinking, leaf(torch), use_reentrant=False).sum()
    with pytest.raises(module.CheckpointError, match="A different number of tensors was saved"):
        y.backward()
    calls.clear()

    def reshaping(t):
        calls.append(1)
        return t.sin() if len(calls) == 1 else t[:2].sin()
    y = module.checkpoint(reshaping, leaf(torch), use_reentrant=False).sum()
    with pytest.raises(module.CheckpointError, match="have different metadata than during the forward pass"):
        y.backward()


def test_an_input_changed_in_place_is_found_out(torch):
    x = leaf(torch)
    middle = x * 1
    y = checkpoint_of(torch).checkpoint(torch.sin, middle, use_reentrant=False).sum()
    middle.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_options_that_do_not_fit(torch):
    checkpoint = checkpoint_of(torch).checkpoint
    x = leaf(torch)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        checkpoint(torch.sin, x, use_reentrant=True, scale=2)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(torch.sin, x, use_reentrant=True, debug=True)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(torch.sin, x, use_reentrant=False, determinism_check="maybe")
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.sin, x)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(torch.sin, x.detach(), use_reentrant=True)


def test_sequential(torch):
    functions = [torch.sin, torch.cos, torch.exp, torch.tanh, torch.sin]
    x, plain = leaf(torch), leaf(torch)
    checkpoint_of(torch).checkpoint_sequential(functions, 2, x, use_reentrant=False).sum().backward()
    value = plain
    for function in functions:
        value = function(value)
    value.sum().backward()
    assert x.grad.tolist() == pytest.approx(plain.grad.tolist())


def test_intermediate_tensors_are_not_kept(torch):
    x = leaf(torch)
    seen = []

    def segment(t):
        a = t.exp()
        seen.append(weakref.ref(a))
        return a.sin()
    y = checkpoint_of(torch).checkpoint(segment, x, use_reentrant=False)
    gc.collect()
    assert seen[0]() is None and y.requires_grad


def test_nothing_is_recorded_under_no_grad(torch):
    x = leaf(torch)
    with torch.no_grad():
        y = checkpoint_of(torch).checkpoint(torch.exp, x, use_reentrant=False)
    assert not y.requires_grad
