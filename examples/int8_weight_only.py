"""Weights in int8: a wrapper tensor in the style of torchao, swapped into a trained model.

    quantize_(model)        every Linear's weight becomes an Int8Weight: one byte for an element, one scale for a row
    model(x)                runs as before; nn.Linear does not know

Nothing of this lies in the engine: the class says which operators it answers, in `__torch_dispatch__`. With
`import torch` in the place of the first import it runs on PyTorch.
https://github.com/pytorch/ao (torchao/utils.py: TorchAOBaseTensor)
"""
import teachtorch as torch

aten = torch.ops.aten
nn = torch.nn


class Int8Weight(torch.Tensor):
    """A matrix kept as int8 numbers and a scale: its values are `numbers * scale`.

    Args:
        numbers: int8, of the matrix's shape.
        scale: floating point, of shape (rows, 1), or (1, columns) once it is transposed. Its dtype is the matrix's.
    """

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, numbers, scale):
        return torch.Tensor._make_wrapper_subclass(cls, numbers.shape, strides=numbers.stride(), dtype=scale.dtype,
                                                   device=numbers.device)

    def __init__(self, numbers, scale):
        self.numbers, self.scale = numbers, scale

    @classmethod
    def of(cls, weight):
        """The nearest Int8Weight of a matrix: each row's largest element becomes 127 or -127."""
        weight = weight.detach()
        scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
        return cls((weight / scale).round().to(torch.int8), scale)

    def dequantize(self):
        """The matrix in floating point."""
        return self.numbers.to(self.scale.dtype) * self.scale

    def nbytes_kept(self):
        """Bytes of the numbers and of the scale."""
        return sum(t.numel() * t.element_size() for t in (self.numbers, self.scale))

    def __repr__(self, **kwargs):
        return f"Int8Weight(shape={tuple(self.shape)}, {self.nbytes_kept()} bytes)"

    # What it consists of, for tools that take wrappers apart.

    def __tensor_flatten__(self):
        return ["numbers", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, inner, context, outer_size, outer_stride):
        return cls(inner["numbers"], inner["scale"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func not in ANSWERS:
            raise NotImplementedError(f"Int8Weight has no answer for {func}")
        return ANSWERS[func](*args, **(kwargs or {}))


# ---- the operators it answers ------------------------------------------------------------------------------

ANSWERS = {}


def answers(*operators):
    """Put a function into the table of operators."""
    def put(function):
        ANSWERS.update(dict.fromkeys(operators, function))
        return function
    return put


def on_both(operator):
    """An operator that does the same to the numbers and to the scale."""
    def function(w, *args, **kwargs):
        return Int8Weight(operator(w.numbers, *args, **kwargs), operator(w.scale, *args, **kwargs))
    return function


for _operator in (aten.detach.default, aten.clone.default, aten.t.default, aten.transpose.int):
    ANSWERS[_operator] = on_both(_operator)


@answers(aten.mm.default)
def mm(x, w):
    """x @ w, without ever making w in floating point: the scale goes to where it is smallest."""
    if isinstance(x, Int8Weight):
        return x.dequantize() @ w
    numbers = w.numbers.to(x.dtype)
    return (x @ numbers) * w.scale if w.scale.shape[0] == 1 else (x * w.scale.t()) @ numbers


@answers(aten.addmm.default)
def addmm(bias, x, w):
    return bias + mm(x, w)


@answers(aten.copy_.default)
def copy_(target, source, non_blocking=False):
    """What load_state_dict does."""
    source = source if isinstance(source, Int8Weight) else Int8Weight.of(source)
    target.numbers.copy_(source.numbers)
    target.scale.copy_(source.scale)
    return target


# ---- models ------------------------------------------------------------------------------------------------

def quantize_(model):
    """Replace the weight of every nn.Linear in the model, in place."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight = nn.Parameter(Int8Weight.of(module.weight), requires_grad=False)
    return model


def weight_bytes(model):
    """Bytes of the weights of all Linear layers, as they are kept."""
    weights = [m.weight for m in model.modules() if isinstance(m, nn.Linear)]
    return sum(w.nbytes_kept() if isinstance(w, Int8Weight) else w.numel() * w.element_size() for w in weights)
