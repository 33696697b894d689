"""Vectors in a processor's registers, for compiled loops that say themselves what stays there.

LLVM turns a plain loop into vector instructions, but decides itself which sums it keeps in registers. The
functions here are for use inside of Numba functions: a value of theirs is `count` numbers of one type, which lie
in one register if it is wide enough, else in several.
"""

import hashlib
import pathlib

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

__all__ = [
    "LINE", "VERSION", "every_second", "fence", "interleaved", "load", "multiply_add", "part", "register_bytes",
    "registers", "splat", "store", "store_past_caches",
]

LINE = 64  # bytes that a cache moves as one

# Numba keeps compiled code for as long as the file that it was written in is the same: whoever uses this
# module writes its version there.
VERSION = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:16]


def register_bytes():
    """How many bytes a vector register of this processor holds."""
    features = llvmlite.binding.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx2") else 16


def registers():
    """How many vector registers this processor has."""
    features = llvmlite.binding.get_host_cpu_features()
    return 32 if features.get("avx512f") or features.get("neon") else 16


class Lanes(types.Type):
    """Numba's type of a vector."""

    def __init__(self, element, count):
        self.element, self.count = element, count
        super().__init__(name=f"Lanes({element}, {count})")


@register_model(Lanes)
class LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes):
        element = ir.FloatType() if lanes.element == types.float32 else ir.DoubleType()
        super().__init__(manager, lanes, ir.VectorType(element, lanes.count))


def place_in(context, builder, array_type, array, index, vector):
    """The address `index` elements after the first one of an array, whatever its shape, as that of a vector."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


@intrinsic(prefer_literal=True)
def load(typing_context, array, index, count):
    """The `count` elements of memory that begin `index` elements after the array's first; nothing checks the bounds."""
    result = Lanes(array.dtype, count.literal_value)

    def code(context, builder, signature, args):
        vector = context.get_value_type(result)
        place = place_in(context, builder, array, args[0], args[1], vector)
        return builder.load(place, align=array.dtype.bitwidth // 8)

    return result(array, types.intp, count), code


@intrinsic(prefer_literal=True)
def store(typing_context, array, index, value):
    """Write a vector to where `load` would read it; nothing checks the bounds."""

    def code(context, builder, signature, args):
        place = place_in(context, builder, array, args[0], args[1], args[2].type)
        builder.store(args[2], place, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), code


@intrinsic(prefer_literal=True)
def store_past_caches(typing_context, array, index, value):
    """The same straight into memory ("non-temporal"). The address is a multiple of the vector's size; a `fence`
    must follow before another thread reads."""

    def code(context, builder, signature, args):
        place = place_in(context, builder, array, args[0], args[1], args[2].type)
        stored = builder.store(args[2], place, align=value.count * array.dtype.bitwidth // 8)
        stored.set_metadata("nontemporal", builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)]))
        return context.get_dummy_value()

    return types.void(array, types.intp, value), code


@intrinsic
def fence(typing_context):
    """All that this thread has stored is seen by the others before what it stores next."""

    def code(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), code


@intrinsic(prefer_literal=True)
def splat(typing_context, value, count):
    """`count` times the same number."""
    result = Lanes(value, count.literal_value)

    def code(context, builder, signature, args):
        vector = context.get_value_type(result)
        undefined = ir.Constant(vector, ir.Undefined)
        index = ir.IntType(32)
        first = builder.insert_element(undefined, args[0], ir.Constant(index, 0))
        return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(index, vector.count), None))

    return result(value, count), code


@intrinsic(prefer_literal=True)
def multiply_add(typing_context, a, b, c):
    """a * b + c, rounded once where the processor can."""

    def code(context, builder, signature, args):
        vector = args[0].type
        name = f"llvm.fmuladd.v{vector.count}f{a.element.bitwidth}"
        kind = ir.FunctionType(vector, [vector] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return a(a, a, a), code


def shuffle(builder, a, b, chosen):
    """The elements `chosen` of vectors a and b, counted through."""
    indices = ir.Constant(ir.VectorType(ir.IntType(32), len(chosen)), list(chosen))
    return builder.shuffle_vector(a, b, indices)


@intrinsic
def every_second(typing_context, a, b):
    """Elements 0, 2, 4, ... of the row that two vectors hold, of which b begins with a's last element."""

    def code(context, builder, signature, args):
        return shuffle(builder, *args, [2 * i + (2 * i >= a.count) for i in range(a.count)])

    return a(a, a), code


@intrinsic(prefer_literal=True)
def interleaved(typing_context, a, b, half):
    """a[0], b[0], a[1], b[1], ... of two vectors: the first half of it (0), or the second (1)."""

    def code(context, builder, signature, args):
        first = half.literal_value * a.count
        return shuffle(builder, *args[:2], [i // 2 + i % 2 * a.count for i in range(first, first + a.count)])

    return a(a, a, half), code


@intrinsic(prefer_literal=True)
def part(typing_context, value, first, count):
    """`count` elements of a vector, from `first` on."""

    def code(context, builder, signature, args):
        begin = first.literal_value
        return shuffle(builder, args[0], args[0], range(begin, begin + count.literal_value))

    return Lanes(value.element, count.literal_value)(value, first, count), code
