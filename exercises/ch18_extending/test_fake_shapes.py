"""Grades fake_shapes.py."""

import teachtorch as torch
from exercises.grading import equal, points, raises


def fake(yours, shape, device="cpu"):
    """A contiguous Fake, made without the learner's help."""
    stride = torch.empty(shape, device="meta").stride()
    return yours.Fake(tuple(shape), tuple(stride), device)


def looks(t):
    return tuple(t.shape), tuple(t.stride())


@points(1, "contiguous strides")
def test_contiguous(yours):
    for shape in ((2, 3, 4), (5,), (), (2, 0, 3), (1, 4)):
        got = yours.contiguous(shape, "cpu")
        equal((got.shape, got.stride), looks(torch.empty(shape)), f"a contiguous tensor of shape {shape}")


@points(2, "a result has strides of its own")
def test_strides(yours):
    turned = yours.Fake((3, 2), (1, 3), "cpu")
    got = yours.matmul(turned, fake(yours, (2, 3)))
    equal(got.stride, (3, 1), "the result is new memory: its strides are not those of an operand")
    got = yours.add(fake(yours, (3, 1)), fake(yours, (1, 4)))
    equal((got.shape, got.stride), ((3, 4), (4, 1)), "nor those of a stretched operand, which are 0")


@points(1, "broadcasting")
def test_broadcast(yours):
    for a, b in (((3, 1), (4,)), ((2, 3), ()), ((1, 5), (7, 1)), ((0,), (1,))):
        equal(yours.broadcast(a, b), tuple((torch.empty(a) + torch.empty(b)).shape), f"{a} with {b}")
    raises(RuntimeError, yours.broadcast, (2, 3), (4,), why="3 and 4 differ, and neither is 1")


@points(1, "a product")
def test_matmul(yours):
    got = yours.matmul(fake(yours, (2, 3)), fake(yours, (3, 4)))
    equal(got.shape, (2, 4), "rows of a, columns of b")
    raises(RuntimeError, yours.matmul, fake(yours, (2, 3)), fake(yours, (2, 3)), why="the inner sizes 3 and 2 differ")


@points(2, "products of batches")
def test_batches(yours):
    a, b = (5, 1, 2, 3), (7, 3, 4)
    why = "the dims before the last two are broadcast: (5, 1) with (7,)"
    got = yours.matmul(fake(yours, a), fake(yours, b))
    equal(got.shape, tuple((torch.empty(a) @ torch.empty(b)).shape), why)


@points(1, "a sum")
def test_sum(yours):
    equal(yours.sum_dim(fake(yours, (2, 3, 4)), 1).shape, (2, 4), "dim 1 is gone")
    equal(yours.sum_dim(fake(yours, (2, 3, 4)), -1).shape, (2, 3), "a negative dim counts from the end")
    got = yours.sum_dim(yours.Fake((2, 3, 4), (1, 2, 6), "cuda:0"), 2)
    equal(tuple(got), ((2, 3), (3, 1), "cuda:0"), "the result is new memory, where the operand is")


@points(1, "keepdim")
def test_keepdim(yours):
    got = yours.sum_dim(fake(yours, (2, 3, 4)), 1, True)
    equal((got.shape, got.stride), ((2, 1, 4), (4, 4, 1)), "dim 1 is still there, of size 1")


@points(2, "devices must agree")
def test_devices(yours):
    cuda = fake(yours, (2, 2), "cuda:0")
    equal(yours.add(cuda, cuda).device, "cuda:0", "the result is where the operands are")
    for rule in (yours.add, yours.matmul):
        raises(RuntimeError, rule, cuda, fake(yours, (2, 2)), text="Expected all tensors",
               why="one operand is on cuda:0, the other on the CPU: the real operator would refuse")


@points(1, "but for numbers")
def test_numbers(yours):
    got = yours.add(fake(yours, (), "cpu"), fake(yours, (2, 2), "cuda:0"))
    equal(got.device, "cuda:0", "a 0-dim tensor of the CPU is a number: it goes with any device")
    got = yours.add(fake(yours, ()), fake(yours, ()))
    equal(tuple(got), ((), (), "cpu"), "two numbers of the CPU make another one")
    raises(RuntimeError, yours.add, fake(yours, (), "cuda:0"), fake(yours, (2, 2)), text="Expected all tensors",
           why="a 0-dim tensor of a GPU is no number: its value is not here")


def any_shape(rng, dims):
    return tuple(rng.choice((1, 1, 2, 3, 0)) for _ in range(dims))


@points(1, "any shapes")
def test_any(yours, rng):
    for _ in range(40):
        a, b = any_shape(rng, rng.randint(2, 4)), any_shape(rng, rng.randint(2, 4))
        dim, keepdim = rng.randrange(-len(a), len(a)), rng.random() < 0.5
        same(yours.add, fake(yours, a), fake(yours, b), torch.add)
        same(yours.matmul, fake(yours, a), fake(yours, b), torch.matmul)
        got, real = yours.sum_dim(fake(yours, a), dim, keepdim), torch.empty(a, device="meta").sum(dim, keepdim)
        equal((got.shape, got.stride), looks(real), f"the real sum over dim {dim} of shape {a}, keepdim={keepdim}")


def same(rule, a, b, operator):
    """The rule's Fake looks like the operator's result, or both refuse."""
    why = f"the real {operator.__name__} of shapes {a.shape} and {b.shape}"
    try:
        real = operator(torch.empty(a.shape, device="meta"), torch.empty(b.shape, device="meta"))
    except RuntimeError:
        raises(RuntimeError, rule, a, b, why=f"{why} refuses them")
    else:
        got = rule(a, b)
        equal((got.shape, got.stride), looks(real), why)
