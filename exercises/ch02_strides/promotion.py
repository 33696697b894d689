"""Which dtype has the result?

PyTorch sorts dtypes into categories, bool < integer < floating point, and operands into three kinds:

    "tensor"   a tensor with at least one dimension
    "0-dim"    a tensor without dimensions, like torch.tensor(2.0)
    "scalar"   a Python number: True is bool, 2 is int64, 2.0 is the default dtype, float32

Tensors with dimensions speak first. 0-dim tensors are only heard when they are of a *higher category* than
all tensors with dimensions, and Python numbers only when they are of a higher category than both. Among
those that are heard (and the ones before them) the ordinary table below decides.

    float16 tensor * float64 0-dim  -> float16   (the same category: the tensor decides)
    int32 tensor + 1.5              -> float32   (a higher category: the default dtype)
    int32 tensor + float64 0-dim    -> float64
"""

CATEGORY = {"bool": 0, "uint8": 1, "int8": 1, "int16": 1, "int32": 1, "int64": 1}
CATEGORY |= {"float16": 2, "float32": 2, "float64": 2}
ORDER = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def promote_types(a, b):
    """Given: the table for two dtypes, torch.promote_types."""
    if {a, b} == {"uint8", "int8"}:
        return "int16"
    return max(a, b, key=ORDER.index)


def result_dtype(*operands):
    """Return the dtype of the result of an operation like add or mul, a text like "float32".

    operands: one or more pairs (kind, dtype), kind one of "tensor", "0-dim", "scalar".
    """
    raise NotImplementedError


def division_dtype(*operands):
    """Return the dtype of the result of `/`: bool and integers give the default dtype, float32.

    operands: as in result_dtype.
    """
    raise NotImplementedError
