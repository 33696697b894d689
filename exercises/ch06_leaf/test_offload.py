"""Grades offload.py."""

import gc
import weakref

import numpy as np

import teachtorch as torch
from exercises.grading import array_of, close, equal, holds, points


def there_and_back(yours, tensor):
    """unpack(pack(tensor)), which must be a tensor."""
    back = yours.unpack(yours.pack(tensor))
    name = type(back).__name__
    holds(isinstance(back, torch.Tensor), "unpack returns a tensor", what="unpack(pack(tensor))", got=name)
    return back


@points(1, "the values come back")
def test_values(yours):
    for values in ([1.0, 2.0, 3.0], [[1.0, 2.0], [3.0, 4.0]], 7.0):
        tensor = torch.tensor(values)
        back = there_and_back(yours, tensor)
        equal(
            array_of(back), array_of(tensor), "the same values and the same shape", what=f"tensor({values})"
        )


@points(1, "the dtype comes back")
def test_dtype(yours):
    for dtype in (torch.float64, torch.float32, torch.int64, torch.bool):
        tensor = torch.tensor([1, 0, 1]).to(dtype)
        back = there_and_back(yours, tensor)
        why = "operations save float64 and integers too: the backward needs what was saved"
        equal(
            array_of(back), array_of(tensor), why, what=f"a tensor of {dtype}".replace("teachtorch", "torch")
        )


@points(1, "the strides come back")
def test_strides(yours):
    tensor = torch.arange(6.0).reshape(2, 3)
    equal(there_and_back(yours, tensor).stride(), (3, 1), "contiguous", what="the strides of a 2 x 3 tensor")
    back = there_and_back(yours, tensor.t())
    equal(
        back.stride(),
        (1, 3),
        "matmul saves transposed tensors: the strides belong to it",
        what="the strides of a transposed tensor",
    )
    equal(array_of(back), array_of(tensor.t()), "and its values", what="a transposed tensor")
    tensor = torch.arange(24.0).reshape(2, 3, 4).permute(1, 2, 0)
    back = there_and_back(yours, tensor)
    why = "each stride stays with its dimension: a permutation is undone by its inverse, not by itself"
    equal(back.stride(), (4, 1, 12), why, what="the strides of a 2 x 3 x 4 tensor after permute(1, 2, 0)")
    equal(array_of(back), array_of(tensor), "and its values", what="a permuted tensor")


@points(1, "what is packed holds no memory of the tensor")
def test_lets_go(yours):
    tensor = torch.tensor([1.0, 2.0])
    packed = yours.pack(tensor)
    tensor.mul_(100)
    why = "pack must copy: tensor.numpy() looks into the same memory, keeps it alive, and sees its changes"
    equal(
        array_of(yours.unpack(packed)),
        np.array([1.0, 2.0], np.float32),
        why,
        what="unpack, after tensor.mul_(100)",
    )
    watched = weakref.ref(tensor)
    del tensor
    gc.collect()
    holds(
        watched() is None,
        "the memory was to be given back",
        what="the tensor, packed and deleted",
        got="alive",
    )


@points(1, "the function's answer, and its gradient")
def test_gradient(yours):
    x = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    loss = yours.offloaded(lambda x: (x.exp() * x).sum(), x)
    numbers = array_of(x)
    close(
        array_of(loss), np.array((np.exp(numbers) * numbers).sum()), "it runs the function", what="the loss"
    )
    loss.backward()
    expected = np.exp(numbers) * (1 + numbers)
    close(
        array_of(x.grad), expected, "the gradient is the same as without", what="the gradient of exp(x) * x"
    )


@points(1, "everything that is saved is packed, during the forward")
def test_packed_in_forward(yours):
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    kept = []

    def function(x):
        y = x.exp()
        kept.append(weakref.ref(y))
        return (y * y).sum()

    loss = yours.offloaded(function, x)
    gc.collect()
    saved = packed_values(loss.grad_fn)
    why = "tensors are saved while the forward runs: the hooks must be on then, not around the backward"
    holds(saved, why, what="whether what the product saved went through unpack")


def packed_values(node):
    """Whether the product behind a sum hands out a new tensor each time: what unpack makes."""
    product = node.next_functions[0][0]
    return product._saved_self is not product._saved_self and pointers(product)


def pointers(product):
    """Whether two looks at what was saved see different memory."""
    first, second = product._saved_self, product._saved_self
    return first.data_ptr() != second.data_ptr()


@points(1, "the hooks are off afterwards")
def test_off(yours):
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    yours.offloaded(lambda x: x.exp().sum(), x)
    y = x.exp()
    first, second = y.grad_fn._saved_result, y.grad_fn._saved_result
    why = "the with block ends with the function: later operations save as they always do"
    holds(first.data_ptr() == second.data_ptr(), why, what="exp after offloaded(...)")


@points(1, "any network")
def test_any(yours, rng):
    torch.manual_seed(rng.randrange(10**6))
    weights = [torch.randn(4, 4, dtype=torch.float64, requires_grad=True) for _ in range(3)]

    def network(*weights):
        x = torch.ones(2, 4, dtype=torch.float64)
        for weight in weights:
            x = torch.tanh(x @ weight.t())
        return (x * x).mean()

    expected = torch.autograd.grad(network(*weights), weights)
    grads = torch.autograd.grad(yours.offloaded(network, *weights), weights)
    for got, right in zip(grads, expected):
        close(
            array_of(got), array_of(right), "the same gradients as without", what="the gradient of a weight"
        )
