"""Calling a compiled function: tensors become structs of pointer, sizes and strides; results become tensors again."""
import ctypes
import threading

import numpy as np

from ...core import dtype as dtypes
from ...memory.streams import synchronize
from ...ops.declare import exports
from ...ops.interchange import from_numpy
from ...tensor import Tensor, array_of

MAX_DIMS, MAX_RESULTS, ROOM = 16, 64, 4096
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float32", "float64", "bool"]
NONE, TENSOR, DOUBLE, INTEGER, BOOLEAN = range(5)
KINDS = {"t": "Tensor", "d": "float", "i": "int", "b": "bool"}
LIST = 1000
CUDA = 1


class TensorStruct(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("id", ctypes.c_int64), ("dim", ctypes.c_int64),
                ("sizes", ctypes.c_int64 * MAX_DIMS), ("strides", ctypes.c_int64 * MAX_DIMS),
                ("dtype", ctypes.c_int32),
                ("device", ctypes.c_int32), ("is_zero", ctypes.c_int32)]


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("tensor", TensorStruct), ("number", ctypes.c_double),
                ("integer", ctypes.c_int64)]


ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(TensorStruct))


class Arrays(threading.local):
    """The arrays that C++ code of this thread may refer to while a call runs."""

    def __init__(self):
        self.known = []

    def add(self, owner, array, struct):
        """Describe an array to C++; `owner` is what stands for it if it comes back."""
        struct.id = len(self.known)
        self.known.append(owner)
        struct.data = array.__array_interface__["data"][0]
        struct.dim = array.ndim
        struct.dtype = DTYPES.index(array.dtype.name)
        struct.sizes[:array.ndim] = array.shape
        struct.strides[:array.ndim] = [step // array.itemsize for step in array.strides]

    def add_on_gpu(self, t, struct):
        """Describe a tensor on the GPU."""
        struct.id = len(self.known)
        self.known.append(t)
        struct.data, struct.dim, struct.device = t.data_ptr(), t.dim(), CUDA
        struct.dtype = DTYPES.index(name_of(t.dtype))
        struct.sizes[:t.dim()], struct.strides[:t.dim()] = t.shape, t.stride()


arrays = Arrays()


@ALLOCATE
def allocate(struct):
    """A new array for C++; returns whether that failed."""
    wanted = struct.contents
    shape, dtype = tuple(wanted.sizes[:wanted.dim]), DTYPES[wanted.dtype]
    try:
        if wanted.device == CUDA:
            make = exports[""]["zeros" if wanted.is_zero else "empty"]
            arrays.add_on_gpu(make(shape, dtype=getattr(dtypes, dtype), device="cuda"), wanted)
            synchronize("cuda")
        else:
            array = np.zeros(shape, dtype) if wanted.is_zero else np.empty(shape, dtype)
            arrays.add(array, array, wanted)
    except (MemoryError, ValueError, RuntimeError):
        return 1
    return 0


class CompiledFunction:
    """A C++ function as a Python function."""

    def __init__(self, library, name, doc=None, uses_cuda=False):
        self.__name__ = name
        self.__doc__ = doc
        letters = getattr(library, f"tt_letters_{name}")
        letters.restype = ctypes.c_char_p
        self.letters = letters().decode()
        self.function = getattr(library, f"tt_call_{name}")
        self.function.argtypes = [ctypes.POINTER(Value), ctypes.c_int, ctypes.POINTER(Value), ALLOCATE,
                                  ctypes.c_char_p,
                                  ctypes.c_int]
        self.uses_cuda = uses_cuda
        if uses_cuda:
            library.tt_cuda_error.restype = ctypes.c_char_p
        self._library = library

    def __call__(self, *args):
        self.check_count(args)
        before, arrays.known = arrays.known, []
        try:
            values = (Value * max(len(args), 1))()
            for i, (value, a, letter) in enumerate(zip(values, args, self.letters)):
                self.put(value, a, letter, i)
            if any([isinstance(a, Tensor) and a.device.type == "cuda" for a in args]):
                synchronize("cuda")           # the source knows nothing of our streams
            results, message = (Value * MAX_RESULTS)(), ctypes.create_string_buffer(ROOM)
            count = self.function(values, len(args), results, allocate, message, ROOM)
            if count < 0:
                raise RuntimeError(message.value.decode(errors="replace"))
            self.check_cuda()
            return self.taken(results, count)
        finally:
            arrays.known = before

    def check_cuda(self):
        """Wait for the kernels that the call launched. RuntimeError for what CUDA says of them."""
        error = self._library.tt_cuda_error() if self.uses_cuda else None
        if error is not None:
            raise RuntimeError(f"{self.__name__}(): CUDA error: {error.decode(errors='replace')}")

    def check_count(self, args):
        if len(args) != len(self.letters):
            wanted = ", ".join([KINDS[letter] for letter in self.letters])
            raise TypeError(f"{self.__name__}({wanted}) takes {len(self.letters)} arguments, got {len(args)}")

    def put(self, value, a, letter, i):
        """Write one argument into its struct. TypeError if it is of another kind."""
        if letter == "t" and isinstance(a, Tensor):
            value.kind = TENSOR
            self.put_tensor(value.tensor, a)
        elif letter == "d" and isinstance(a, (int, float)):
            value.kind, value.number = DOUBLE, a
        elif letter in "ib" and isinstance(a, int):
            value.kind, value.integer = INTEGER, int(a)
        else:
            raise TypeError(f"{self.__name__}(): argument {i} must be {KINDS[letter]}, "
                            f"not {type(a).__name__}")

    def put_tensor(self, struct, t):
        if t.dim() > MAX_DIMS or name_of(t.dtype) not in DTYPES:
            raise RuntimeError(f"{self.__name__}(): a tensor of {t.dtype} and {t.dim()} dimensions cannot be "
                               "passed to C++")
        if t.device.type == "cpu":
            arrays.add(t, array_of(t), struct)
        elif t.device.type == "cuda" and self.uses_cuda:
            arrays.add_on_gpu(t, struct)
        else:
            raise RuntimeError(f"{self.__name__}(): expected tensors on the CPU, got one on {t.device}")

    def taken(self, results, count):
        """The results: None, one, or a list."""
        if not count:
            return None
        if count >= LIST:
            return [result_of(value) for value in results[:count - LIST]]
        return result_of(results[0])


def name_of(dtype):
    """"float32"."""
    return str(dtype).removeprefix("torch.")


def result_of(value):
    if value.kind == TENSOR:
        found = arrays.known[value.tensor.id] if 0 <= value.tensor.id < len(arrays.known) else None
        if found is None:
            raise RuntimeError("the C++ function returned a tensor that it did not get or make")
        return found if isinstance(found, Tensor) else from_numpy(found)
    if value.kind == DOUBLE:
        return value.number
    return bool(value.integer) if value.kind == BOOLEAN else value.integer
