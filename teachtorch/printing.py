"""How tensors print: the text of `repr(tensor)`, equal to PyTorch's to the letter.

`format_values(array, options, indent)` turns numbers into nested, aligned, wrapped brackets; it knows NumPy.
`tensor_str(tensor)` puts `tensor(` before them and what else a reader must know behind: device, size, dtype,
grad_fn. It reads only a tensor's public surface, so it prints PyTorch's own tensors too.

The rules, for one format shared by all elements of a tensor:
- integers and bools print as Python's;
- floats that are all whole print as "1."; otherwise with `precision` digits;
- floats print in scientific notation when, zeros aside, the largest magnitude exceeds 1000 times the smallest
  or exceeds 1e8, or the smallest is below 1e-4;
- more than `threshold` elements are summarised: `edgeitems` at both ends of each dimension.

Source: https://pytorch.org/docs/stable/generated/torch.set_printoptions.html
"""
import contextlib
import dataclasses
import math

import numpy as np

from teachtorch.autograd.forward_ad import tangent_of
from teachtorch.core import settings
from teachtorch.dispatch.keys import FUNCTORCH
from teachtorch.dispatch.state import excluding
from teachtorch.tensor import method

__all__ = ["PrintOptions", "format_values", "get_printoptions", "printoptions", "set_printoptions",
           "tensor_format", "tensor_str"]


@dataclasses.dataclass
class PrintOptions:
    """How to print: digits after the point, elements before summarising, those kept at each end, line width.

    `sci_mode` is True, False, or None for "decide by the values".
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}

_options = PrintOptions()


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None,
                     sci_mode=None):
    """Change how tensors print from now on.

    `profile` ("default", "short" or "full") sets the four numbers, those given beside it win. As in PyTorch a
    call without `sci_mode` puts it back to None, and an unknown profile changes nothing.
    """
    changes = dict(_PROFILES.get(profile, {}))
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    changes.update((name, value) for name, value in given.items() if value is not None)
    for name, value in changes.items():
        setattr(_options, name, value)
    _options.sci_mode = sci_mode


def get_printoptions():
    """The options as a dictionary that set_printoptions accepts."""
    return dataclasses.asdict(_options)


@contextlib.contextmanager
def printoptions(**options):
    """Change the options inside a `with` block; same arguments as set_printoptions."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


# Numbers

def format_values(array, options=None, indent=0):
    """The elements of an array in brackets, without `tensor(`.

    Args: `array`, bool, integer or floating (float16 and bfloat16 too) of any shape; `options`, PrintOptions,
    by default the current ones; `indent`, the column at which the text starts: following lines align with it.
    """
    options = options or _options
    if array.size == 0:
        return "[]"
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)    # bfloat16 numbers do not turn into Python's by themselves
    is_float = array.dtype.kind == "f"
    is_summarised = array.size > options.threshold
    shown = _summary(array, options.edgeitems) if is_summarised else array
    number = _float_format(shown.astype(np.float64).reshape(-1), options) if is_float else _int_format(shown)
    return _brackets(array, indent, is_summarised, number, options)


def _summary(array, edge):
    """The elements that a summary shows, of all dimensions."""
    if edge == 0 and array.ndim > 1:
        return array[:0]
    for axis, size in enumerate(array.shape):
        if size > 2 * edge > 0:
            array = np.take(array, [*range(edge), *range(size - edge, size)], axis=axis)
    return array


@dataclasses.dataclass
class _NumberFormat:
    """Turns a number into text of at least `width` characters."""

    width: int
    text: object    # a function from a Python number to its text

    def __call__(self, value):
        return self.text(value).rjust(self.width)


def _int_format(shown):
    return _NumberFormat(max(map(len, map(str, shown.reshape(-1).tolist())), default=1), str)


def _float_format(shown, options):
    """Choose between "1.", "1.0000" and "1.0000e+00" for float64 values of shape (n,)."""
    counted = shown[np.isfinite(shown) & (shown != 0)]
    if counted.size == 0:
        return _NumberFormat(1, _whole_text)
    is_whole = bool((counted == np.ceil(counted)).all())
    text = _float_text(_is_scientific(np.abs(counted), options), is_whole, options.precision)
    return _NumberFormat(max(len(text(value)) for value in counted.tolist()), text)


def _is_scientific(magnitudes, options):
    if options.sci_mode is not None:
        return options.sci_mode
    smallest, largest = magnitudes.min(), magnitudes.max()
    with np.errstate(over="ignore"):
        return bool(largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4)


def _float_text(is_scientific, is_whole, precision):
    if is_scientific:
        return f"{{:.{precision}e}}".format
    return _whole_text if is_whole else f"{{:.{precision}f}}".format


def _whole_text(value):
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


# Brackets

def _brackets(array, indent, is_summarised, number, options):
    if array.ndim == 0:
        return number(array.item())
    if array.ndim == 1:
        return _line_of_numbers(array, indent, is_summarised, number, options)
    rows = [row if row is ... else _brackets(row, indent + 1, is_summarised, number, options)
            for row in _kept(array, is_summarised, options.edgeitems)]
    separator = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + separator.join("..." if row is ... else row for row in rows) + "]"


def _kept(array, is_summarised, edge):
    """What is shown of the first dimension: its slices, with an Ellipsis where some are left out."""
    if not is_summarised or len(array) <= 2 * edge:
        return list(array)
    return [*array[:edge], ..., *array[len(array) - edge:]]


def _line_of_numbers(array, indent, is_summarised, number, options):
    if is_summarised and options.edgeitems == 0:
        texts = ["..."]
    else:
        kept = _kept(array, is_summarised, options.edgeitems)
        texts = [" ..." if value is ... else number(value.item()) for value in kept]
    per_line = max(1, (options.linewidth - indent) // (number.width + 2))
    lines = [", ".join(texts[start:start + per_line]) for start in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


# Tensors

def tensor_str(tensor, *, tangent=None, default_dtype=None):
    """The text of `repr(tensor)`; a Parameter's repr puts the line "Parameter containing:" before it.

    Args: `tensor`, anything with a tensor's public surface; `tangent`, its tangent in forward mode if it has
    one; `default_dtype`, the dtype that goes without saying, by default the current default dtype.
    """
    default_dtype = str(default_dtype or settings.default_dtype)
    prefix = "tensor(" if _is_plain(tensor) else f"{type(tensor).__name__}("
    is_sparse = getattr(tensor, "is_sparse", False)
    text = prefix + (_entries if is_sparse else _contents)(tensor, len(prefix))
    suffixes = [*(_size_and_type if is_sparse else _place_and_type)(tensor, default_dtype), *_history(tensor)]
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    text = _with_suffixes(text, suffixes, len(prefix), on_new_line=is_sparse)
    return f"Parameter({text})" if _is_parameter(tensor) and not _is_plain(tensor) else text


def _is_plain(tensor):
    return type(tensor).__name__ in ("Tensor", "Parameter")


def _is_parameter(tensor):
    return any(base.__name__ == "Parameter" for base in type(tensor).__mro__)


def _contents(tensor, indent):
    if tensor.device.type == "meta":
        return "..."
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()    # PyTorch has no NumPy dtype for it; every bfloat16 is a float32
    return format_values(tensor.numpy(), _options, indent)


def _entries(tensor, indent):
    """The indices and values of a sparse tensor, as two tensors below each other."""
    parts = []
    for name, part in (("indices", tensor._indices()), ("values", tensor._values())):
        start = f"{name}=tensor("
        empty = f", size={tuple(part.shape)}" if math.prod(part.shape) == 0 else ""
        parts.append(start + _contents(part, indent + len(start)) + empty + ")")
    return (",\n" + " " * indent).join(parts)


def _size_and_type(tensor, default_dtype):
    """What is said of every sparse tensor."""
    yield f"size={tuple(tensor.shape)}"
    yield f"nnz={tensor._nnz()}"
    if str(tensor.dtype) not in (default_dtype, "torch.int64", "torch.bool"):
        yield f"dtype={tensor.dtype}"
    yield f"layout={tensor.layout}"


def _place_and_type(tensor, default_dtype):
    """Device, size and dtype, each only where the numbers do not say it."""
    is_meta = tensor.device.type == "meta"
    is_empty = math.prod(tensor.shape) == 0
    if tensor.device.type != "cpu":
        yield f"device='{tensor.device}'"
    if is_meta or (len(tensor.shape) != 1 if is_empty else _options.edgeitems == 0):
        yield f"size={tuple(tensor.shape)}"
    understood = [default_dtype] if is_meta or is_empty else [default_dtype, "torch.int64", "torch.bool"]
    if str(tensor.dtype) not in understood:
        yield f"dtype={tensor.dtype}"


def _history(tensor):
    try:
        grad_fn = tensor.grad_fn
    except RuntimeError:    # a view taken and then changed in place without grad mode has no valid one
        yield "grad_fn=<Invalid>"
        return
    if grad_fn is not None:
        name = grad_fn.name().rsplit("::", 1)[-1]
        yield f"grad_fn=<{name}>"
    elif tensor.requires_grad:
        yield "requires_grad=True"


def _with_suffixes(text, suffixes, indent, on_new_line=False):
    """Append each suffix to the last line, or to a new one where the line would get too long.

    `on_new_line`: start one.
    """
    width = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if on_new_line or width + len(suffix) + 2 > _options.linewidth:
            on_new_line = False
            text += ",\n" + " " * indent + suffix
            width = indent + len(suffix)
        else:
            text += ", " + suffix
            width += len(suffix) + 2
    return text + ")"


def tensor_format(tensor, spec):
    """What `format(tensor, spec)` gives: a 0-dim tensor formats as its number, any other takes no spec.

    Raises TypeError for another spec, as PyTorch does.
    """
    if len(tensor.shape) == 0 and tensor.device.type != "meta" and type(tensor).__name__ == "Tensor":
        return format(tensor.detach().item(), spec)
    return object.__format__(tensor, spec)


# The protocols of Python, attached to teachtorch's own tensors

def _repr(self, *, tensor_contents=None):
    with excluding(FUNCTORCH):            # inside vmap the example may be shown, though not asked for its values
        return tensor_str(self, tangent=tangent_of(self))


method(_repr, "__repr__")
method(tensor_format, "__format__")
