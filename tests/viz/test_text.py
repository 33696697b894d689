"""Golden texts: the whole path from tensor to picture, the same for both engines."""

import pytest

import viz

CHAIN = """\
backward graph of loss
2 operations, 1 leaf.
Saved for backward: 2 tensors; storage kept alive: 8 B.

loss  float32 []  non-leaf
│   = [5]
─▶0 SumBackward0 #1
0─▶0 MulBackward0 #0
│   saved self  float32 [2]  8 B  = x
│   saved other  float32 [2]  8 B  = x
├─0─▶0 x  float32 [2]  leaf
│     .grad None
└─1─▶0 x  float32 [2]  leaf  (drawn above)

Key: k─▶m  gradient k of the line above goes to input m of this node; #n  order of creation, from 0

Steps
  1 backward() starts: the engine has counted how many gradients each node waits for, and hands the
    first gradient to SumBackward0.
  2 SumBackward0 runs and sends a gradient to MulBackward0 (now ready).
  3 MulBackward0 runs and sends a gradient to x twice (now ready), then lets go of the 16 B it
    saved.
  4 AccumulateGrad of x runs: .grad was None, so the gradient becomes x.grad."""

STRIDES = """\
strides of t, view(6,)
is_contiguous: no. Dim 1 has stride 3, but 1 is needed: the product of the sizes after it.
All 6 elements lie in one cache line of 64 bytes.

shape   (3, 2)
stride  (1, 3)
offset  0
dtype   float32, 4 bytes each
storage 6 slots, 24 B

dim 0   size 3     stride 1     contiguous would be 2
dim 1   size 2     stride 3     contiguous would be 1

0@0  3@3
1@1  4@4
2@2  5@5
(value@slot)

storage, 6 slots (| starts a cache line, · is outside the tensor)
     0 |0  1  2  3  4  5

view(6,)
  [dim 0 (3)]  3 elements, base stride 1  <-  -
  [dim 1 (2)]  2 elements, base stride 3  <-  new 0 (6) straddles
  view(6,) fails; reshape would copy 6 elements (24 B) into new storage with strides (1,).

Steps
  1 Dim 1 (size 2, stride 3) opens a chunk.
  2 Dim 0 cannot join: its stride is 1, and 2 x 3 = 6 was needed; it opens a new chunk.
  3 New dim 0 (size 6) would straddle two chunks: with it the new dims hold 6 elements, but the
    chunk has 2. So view fails.
  4 view(6,) fails; reshape would copy 6 elements (24 B) into new storage with strides (1,)."""


def test_a_squared_sum(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    assert viz.graph(loss, names={"x": x, "loss": loss}).text == CHAIN


def test_strides_of_a_transpose(lib):
    t = lib.arange(6, dtype=lib.float32).reshape(2, 3).t()
    assert viz.strides(t, view=(6,)).text == STRIDES


def test_a_shared_node_is_drawn_once_and_referred_to(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = y.sqrt() * y
    text = viz.graph(z).text
    assert text.count("ExpBackward0 #0\n") == 1
    assert text.count("ExpBackward0 #0  (drawn above)") == 1


def test_many_steps_are_cut_and_counted(lib):
    y = lib.tensor([1.0], requires_grad=True)
    for _ in range(45):
        y = y.exp()
    assert viz.graph(y, names=False).text.endswith("... 7 more steps")


def test_a_saved_number_is_no_tensor_and_takes_no_storage():
    lib = pytest.importorskip("teachtorch")
    x = lib.tensor([1.0], requires_grad=True)
    text = viz.graph(x / 2, names=False).text
    assert "Saved for backward: 1 number.\n" in text
    assert "then lets go of the number it saved." in " ".join(text.split())
