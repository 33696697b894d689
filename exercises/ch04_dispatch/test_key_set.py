"""Grades key_set.py."""

import teachtorch as torch
from exercises.grading import equal, points, raises

CPU = {"CPU", "ADInplaceOrView", "Autograd"}


def listed(keys):
    return sorted(keys)


@points(1, "an ordinary tensor")
def test_tensor(yours):
    equal(listed(yours.tensor_keys("CPU", requires_grad=True)), listed(CPU), "a tensor that requires grad")
    equal(listed(yours.tensor_keys("Meta")), ["ADInplaceOrView", "Autograd", "Meta"], "a tensor of another device")


@points(2, "Autograd is carried by all")
def test_no_grad_needed(yours):
    why = "it carries Autograd although it does not require grad: the kernel looks, not the key"
    equal(listed(yours.tensor_keys("CPU")), listed(CPU), why)


@points(1, "tensors of inference mode, and of classes of their own")
def test_special(yours):
    equal(listed(yours.tensor_keys("CPU", made_in_inference_mode=True)), ["CPU"], "inference mode: the device alone")
    equal(listed(yours.tensor_keys("CPU", has_torch_dispatch=True)), listed(CPU | {"Python"}), "and Python")


@points(1, "the union of all tensors and what the thread includes")
def test_union(yours):
    got = yours.call_keys([{"CPU"}, {"CPU", "Python"}], included={"BackendSelect"})
    equal(listed(got), ["BackendSelect", "CPU", "Python"], "both tensors and the thread have a say")


@points(2, "what the thread excludes is out")
def test_excluded(yours):
    why = "Autograd is excluded, whoever carries it: else an Autograd kernel would find itself again, without end"
    equal(listed(yours.call_keys([CPU], excluded={"Autograd"})), ["ADInplaceOrView", "CPU"], why)
    got = yours.call_keys([{"CPU"}], included={"Autocast"}, excluded={"Autocast"})
    equal(listed(got), ["CPU"], "excluded beats included")


@points(1, "the highest key")
def test_highest(yours):
    equal(yours.highest({"CPU", "Autograd", "BackendSelect"}), "Autograd", "by ORDER, not by the alphabet or by place")
    equal(yours.highest({"Python", "CPU"}), "Python", "by ORDER")
    raises(ValueError, yours.highest, set(), why="no tensor, no key")


@points(1, "what a kernel goes on with")
def test_below(yours):
    got = yours.below(CPU | {"Autocast"}, "Autograd")
    equal(listed(got), ["ADInplaceOrView", "CPU"], "below Autograd: neither itself nor what stands above it")


@points(1, "the sets of real tensors")
def test_real(yours):
    plain = torch.ones(2)
    with torch.inference_mode():
        inference = torch.ones(2)
    for t, flag in ((plain, False), (inference, True)):
        shown, yours_are = str(torch._C._dispatch_keys(t)), yours.tensor_keys("CPU", made_in_inference_mode=flag)
        equal({k: k in yours_are for k in CPU}, {k: k in shown for k in CPU},
              "what torch._C._dispatch_keys shows")
