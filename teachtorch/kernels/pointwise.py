"""Functions of one element, over arrays: NumPy for small ones, a compiled parallel loop for large ones."""

import contextvars
import functools
import threading

import numpy as np

from . import codegen
from .cache import load_module
from .caches import overflow_caches
from .parallel import parallel_for
from .strided import CHEAP_GRAIN, GRAIN, empty_result, plan_loop

__all__ = ["Pointwise"]

# Below this many elements NumPy is as quick as a compiled loop, and nobody waits for a compiler.
SMALL = 1 << 14
COMPILED_DTYPES = frozenset(
    np.dtype(name) for name in ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64"))


LOOPS = {"flat": codegen.flat_loop, "streaming": codegen.streaming_loop, "strided": codegen.strided_loop}


class _Silence(threading.local):
    """A context per thread in which NumPy reports no floating-point errors, as PyTorch does not.

    ``with np.errstate(...)`` does the same and costs three times what a small ufunc costs.
    """

    def __init__(self):
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        context.run(_is_silent.set, True)
        self.run = context.run


_is_silent = contextvars.ContextVar("is_silent", default=False)
_silence = _Silence()


def silently(function, *arguments):
    """Call ``function`` with NumPy's floating-point warnings off."""
    if _is_silent.get():
        return function(*arguments)
    try:
        return _silence.run(function, *arguments)
    except RuntimeError as error:
        if not str(error).startswith("cannot enter context"):
            raise
    with np.errstate(all="ignore"):  # inside such a call, in a context of its own
        return function(*arguments)


def cast(array, dtype):
    """Return ``array`` in ``dtype``, itself if that is its own; no warning where a number does not fit.

    An element that is repeated stays repeated: a copy that writes it out would have an order of dimensions, and
    NumPy's is not PyTorch's.
    """
    if array.dtype == dtype:
        return array
    if array.ndim > 1 and 0 in array.strides:
        once = array[tuple([slice(0, 1) if step == 0 else slice(None) for step in array.strides])]
        return np.broadcast_to(silently(once.astype, dtype), array.shape)
    return silently(array.astype, dtype)


def faster_in_numpy(scalar):
    """Mark a one-element function whose NumPy ufunc is vectorised, while LLVM would call the C library each time."""
    scalar.is_faster_in_numpy = True
    return scalar


class Pointwise:
    """A function of one element, over arrays of one dtype that broadcast.

    Args:
        scalar: a plain Python function of one element per operand. Its source is what Numba compiles, so it
            may use only numbers, operators and functions of the same kind (`kernels.scalar`, ``math``).
        numpy: a ufunc, or a function of arrays that is called likewise, for small arrays and for dtypes that
            Numba has not (float16, bfloat16); it may have a variant ``over_first`` that writes over its first
            argument. Without it every array is compiled for, and such dtypes pass
            through float32.
        result: the result's dtype where it is not the operands' (``np.bool_`` for predicates).
    """

    def __new__(cls, scalar, numpy=None, result=None):
        """Pick the class by the number of operands: a fixed signature is quicker than ``*arrays``."""
        operands = scalar.__code__.co_argcount + scalar.__code__.co_kwonlyargcount
        return super().__new__({1: _Unary, 2: _Binary}.get(operands, cls))

    def __init__(self, scalar, numpy=None, result=None):
        self.scalar = scalar
        self.numpy = numpy
        self.result = None if result is None else np.dtype(result)
        self.__name__ = scalar.__name__
        self._small = SMALL if numpy is not None else -1
        self._is_ufunc = isinstance(numpy, np.ufunc)
        self._over_first = getattr(numpy, "over_first", None)
        self._grain = GRAIN if scalar.__code__.co_names else CHEAP_GRAIN
        self._kernels = {}

    def __repr__(self):
        return f"Pointwise({self.__name__})"

    def __call__(self, *arrays, out=None):
        """Return the function of ``arrays``: ndarrays or NumPy scalars of one dtype, a condition may be bool.

        Args:
            out: an array of the broadcast shape to fill and return; it may be one of ``arrays``.

        The result is dense, its dimensions in the order of the operands' strides, as PyTorch lays it out.
        """
        if max(array.size for array in arrays) > self._small:
            return self._large(arrays, out)
        return self._numpy(arrays, out)

    def into_first(self, *arrays):
        """Write the function of ``arrays``, floats, over the first; the others have its shape, or are numbers."""
        first = arrays[0]
        if first.size > self._small:
            return self._large(arrays, first)
        if self._over_first is not None:
            return silently(self._over_first, *arrays)
        if not self._is_ufunc:
            return self._numpy(arrays, first)
        try:  # each line tells, as in the classes below
            return _silence.run(self.numpy, *arrays, first)
        except RuntimeError:
            return silently(self.numpy, *arrays, first)

    def _numpy(self, arrays, out):
        """Run NumPy's function, into ``out`` if there is one."""
        if out is None:
            if _one_order(arrays[0], *arrays[1:]):
                return np.asarray(silently(self.numpy, *arrays))
            out = empty_result([np.asarray(x) for x in arrays], self.result or arrays[-1].dtype)
        if self._is_ufunc:
            return silently(self.numpy, *arrays, out)
        found = silently(self.numpy, *arrays)
        if found.dtype == out.dtype:
            out[...] = found
        else:
            silently(np.copyto, out, found, "unsafe")
        return out

    def _large(self, arrays, out):
        """Run the compiled loop, or NumPy where the arrays are of a kind that it does not take."""
        arrays = tuple(map(np.asarray, arrays))
        if getattr(self.scalar, "is_faster_in_numpy", False) and len(arrays) == 1:
            return self._numpy_in_parts(arrays[0], out)
        if not all(map(_compilable, arrays if out is None else (*arrays, out))):
            return self._through_float32(arrays, out) if self.numpy is None else self._numpy(arrays, out)
        loop = plan_loop(arrays, out, self.result or arrays[-1].dtype)
        kind = _flat_kind(loop.result, loop.pattern, arrays) if loop.kind == "flat" else loop.kind
        loop.run(self._kernel(kind, loop.result.dtype, loop.dtypes, loop.pattern), self._grain)
        return loop.result

    def _numpy_in_parts(self, x, out):
        """Run NumPy's function of a large array on several threads."""
        out = empty_result([x], self.result or x.dtype) if out is None else out
        if not (x.flags.c_contiguous and out.flags.c_contiguous and out.shape == x.shape):
            return self._numpy((x,), out)
        source, target = x.reshape(-1), out.reshape(-1)
        parallel_for(x.size, GRAIN, lambda begin, end: silently(self.numpy, source[begin:end], target[begin:end]))
        return out

    def _through_float32(self, arrays, out):
        """Compile for float32 in place of a floating dtype that Numba has not, and round the result."""
        dtype = arrays[-1].dtype
        wide = [x if x.dtype == np.bool_ else cast(x, np.float32) for x in arrays]
        result = self._large(wide, None)
        if out is None:
            return cast(result, self.result or dtype)
        silently(np.copyto, out, result, "unsafe")
        return out

    def _kernel(self, *key):
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = _compile(self.scalar, *key)
        return kernel


def _flat_kind(result, pattern, arrays):
    """Which loop over runs of memory: results that no cache holds in the end go past them."""
    fits = "o" in pattern or result.dtype.char not in "fd" or not overflow_caches(result, *arrays)
    return "flat" if fits else "streaming"


def _one_order(first, *others):
    """Whether NumPy surely lays the result out as PyTorch does, which follows the first where operands differ."""
    if first.ndim < 2:
        return True
    return all(
        other.ndim < 2 or first.strides == other.strides or _in_c_order(first) and _in_c_order(other)
        for other in others)


def _in_c_order(array):
    """Whether the array is contiguous, or one element seen everywhere, which has no order of its own."""
    return array.flags.c_contiguous or not any(array.strides)


def _alike(x, y):
    """Whether both are aligned runs of memory of one shape and of one dtype that Numba has."""
    return (x.shape == y.shape and x.dtype is y.dtype and x.dtype in COMPILED_DTYPES
            and x.flags.carray and y.flags.carray)


# In the two classes below each line tells in the time of a small operation, so `silently` is written out.


class _Unary(Pointwise):
    def __call__(self, x, out=None):
        if out is None and x.size <= self._small:
            try:
                result = _silence.run(self.numpy, x)
            except RuntimeError:
                result = silently(self.numpy, x)
            return result if type(result) is np.ndarray else np.asarray(result)
        return Pointwise.__call__(self, x, out=out)


class _Binary(Pointwise):
    def __call__(self, x, y, out=None):
        if out is None and x.size <= self._small and y.size <= self._small:
            if y.ndim < 2 or x.strides == y.strides or _one_order(x, y):
                try:
                    result = _silence.run(self.numpy, x, y)
                except RuntimeError:
                    result = silently(self.numpy, x, y)
                return result if type(result) is np.ndarray else np.asarray(result)
        elif out is None and _alike(x, y):
            return self._large_alike(x, y)
        return Pointwise.__call__(self, x, y, out=out)

    def _large_alike(self, x, y):
        """What `_large` comes to for two runs of memory of one shape: planning takes longer than waking a thread."""
        result = np.empty(x.shape, self.result or x.dtype)
        kernel = self._kernel(_flat_kind(result, "cc", (x, y)), result.dtype, (x.dtype, y.dtype), "cc")
        run = functools.partial(kernel, result.reshape(-1), x.reshape(-1), y.reshape(-1))
        parallel_for(x.size, self._grain, run)
        return result


def _compile(scalar, kind, out_dtype, dtypes, pattern):
    """Return the compiled loop of ``kind`` for these dtypes and this pattern of operands."""
    text = LOOPS[kind](scalar, out_dtype, dtypes, pattern)
    name = scalar.__name__ if scalar.__name__.isidentifier() else "scalar"
    return load_module(f"{name}_{dtypes[-1]}_{pattern}", text, waits_for_memory=True).kernel


def _compilable(array):
    """Whether a compiled loop can walk the array: a dtype Numba has, aligned, native, no step backwards."""
    return array.dtype in COMPILED_DTYPES and array.flags.aligned and min(array.strides, default=0) >= 0


