"""Data types: what the elements of a tensor are, and how many bytes each takes.

A `dtype` is a singleton; compare with `is` or `==`. It prints as PyTorch's (`torch.float32`), since a chapter
runs unchanged on both libraries. https://pytorch.org/docs/stable/tensor_attributes.html#torch-dtype
"""
import builtins

import ml_dtypes
import numpy as np

# The promotion rule looks at a dtype's category first, at its width second (core/promotion.py).
BOOL, INTEGRAL, FLOATING = 0, 1, 2


class dtype:
    """One element type.

    Attributes: `name` ("float32"), `numpy` (the np.dtype), `itemsize` in bytes, `category` (BOOL, INTEGRAL or
    FLOATING), `is_floating_point`, `is_signed`, `is_complex` (always False: there are no complex tensors here).
    """

    __slots__ = ("name", "numpy", "itemsize", "category", "is_floating_point", "is_signed", "is_complex")

    def __init__(self, name, numpy, category):
        self.name = name
        self.numpy = np.dtype(numpy)
        self.itemsize = self.numpy.itemsize
        self.category = category
        self.is_floating_point = category == FLOATING
        self.is_signed = name not in ("bool", "uint8")
        self.is_complex = False

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return _named, (self.name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def to_real(self):
        """Itself: there are no complex dtypes."""
        return self


bool = dtype("bool", np.bool_, BOOL)
uint8 = dtype("uint8", np.uint8, INTEGRAL)
int8 = dtype("int8", np.int8, INTEGRAL)
int16 = short = dtype("int16", np.int16, INTEGRAL)
int32 = int = dtype("int32", np.int32, INTEGRAL)
int64 = long = dtype("int64", np.int64, INTEGRAL)
float16 = half = dtype("float16", np.float16, FLOATING)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, FLOATING)
float32 = float = dtype("float32", np.float32, FLOATING)
float64 = double = dtype("float64", np.float64, FLOATING)

ALL = (bool, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64)
BY_NAME = {d.name: d for d in ALL}
OF_NUMPY = {d.numpy: d for d in ALL}


def _named(name):
    return BY_NAME[name]


def from_numpy(numpy_dtype):
    """The dtype for a NumPy dtype; TypeError where tensors have none (strings, objects, complex, uint16...)."""
    found = OF_NUMPY.get(numpy_dtype)
    if found is None:
        found = OF_NUMPY.get(np.dtype(numpy_dtype).newbyteorder("="))
    if found is None:
        names = ", ".join(d.name for d in reversed(ALL))
        raise TypeError(f"can't convert np.ndarray of type {np.dtype(numpy_dtype).name}. "
                        f"The only supported types are: {names}.")
    return found


# What C++ PyTorch calls tensors of each dtype; error messages of autograd use these names.
_LEGACY_NAMES = {"bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
                 "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double"}


def scalar_type_name(of):
    """PyTorch's C++ name of a dtype, as its error messages print it: float32 -> "Float", int64 -> "Long"."""
    return _LEGACY_NAMES[of.name]


# What a C++ compiler calls the element type; some errors use these names.
CPP_NAMES = {"float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
             "int64": "long int", "int32": "int", "int16": "short int", "int8": "signed char",
             "uint8": "unsigned char", "bool": "bool"}


def cpp_name(of):
    """The C++ type of a dtype's elements: float32 -> "float", int64 -> "long int"."""
    return CPP_NAMES[of.name]


def type_name(of):
    """What PyTorch's C++ side calls the type of a CPU tensor; two dtypes have no legacy type."""
    name = scalar_type_name(of)
    return f"CPU{name}Type" if of in (bool, bfloat16) else f"torch.{name}Tensor"


# Python's types stand for dtypes wherever one is asked for.
PYTHON_TYPES = {builtins.float: float64, builtins.int: int64, builtins.bool: bool}


def wants_dtype(value, asking):
    """The dtype that is given, or that a type of Python's stands for. TypeError for anything else."""
    if isinstance(value, type):
        value = PYTHON_TYPES.get(value, value)
    if not isinstance(value, dtype):
        raise TypeError(f"{asking}(): argument 'type' (position 1) must be torch.dtype, "
                        f"not {type(value).__name__}")
    return value


class finfo:
    """Limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution, dtype.

    Raises TypeError for other dtypes, as torch.finfo does.
    """

    def __init__(self, of=float32):
        of = wants_dtype(of, "finfo")
        if not of.is_floating_point:
            raise TypeError("torch.finfo() requires a floating point input type. "
                            "Use torch.iinfo to handle 'torch.finfo'")
        limits = ml_dtypes.finfo(of.numpy)
        self.bits = limits.bits
        self.dtype = of.name
        for name in ("eps", "max", "min", "tiny", "smallest_normal"):
            setattr(self, name, limits_as_float(getattr(limits, name)))
        self.resolution = 10.0 ** -limits.precision

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
                f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})")


def limits_as_float(value):
    return np.float64(value).item()


class iinfo:
    """Limits of an integer dtype: bits, max, min, dtype. Raises TypeError for other dtypes."""

    def __init__(self, of):
        of = wants_dtype(of, "iinfo")
        if of is bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if of.category != INTEGRAL:
            raise TypeError("torch.iinfo() requires an integer input type. "
                            "Use torch.finfo to handle 'torch.iinfo'")
        limits = np.iinfo(of.numpy)
        self.bits, self.max, self.min, self.dtype = limits.bits, limits.max, limits.min, of.name

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
