"""Grades promotion.py."""

from exercises.grading import equal, points

BY_CATEGORY = [["bool"], ["uint8", "int8", "int16", "int32", "int64"], ["float16", "float32", "float64"]]
SCALARS = ["bool", "int64", "float32"]


def tensor(dtype):
    return "tensor", dtype


def zero_dim(dtype):
    return "0-dim", dtype


def scalar(dtype):
    return "scalar", dtype


@points(1, "two tensors: the table decides")
def test_two_tensors(yours):
    equal(yours.result_dtype(tensor("float16"), tensor("float64")), "float64", "the wider of one category")
    equal(
        yours.result_dtype(tensor("uint8"), tensor("int8")), "int16", "neither holds the values of the other"
    )
    equal(
        yours.result_dtype(tensor("int64"), tensor("float16")),
        "float16",
        "the floating point dtype, however narrow",
    )


@points(1, "a 0-dim tensor does not promote within its category")
def test_zero_dim_within_category(yours):
    why = "a 0-dim tensor of the same category is not heard: the tensor with dimensions decides"
    equal(yours.result_dtype(tensor("float16"), zero_dim("float64")), "float16", why)
    equal(yours.result_dtype(tensor("int8"), zero_dim("int64")), "int8", why)


@points(1, "a 0-dim tensor of a higher category is heard")
def test_zero_dim_raises_category(yours):
    why = "floating point is a higher category than integer"
    equal(yours.result_dtype(tensor("int32"), zero_dim("float64")), "float64", why)
    equal(
        yours.result_dtype(tensor("bool"), zero_dim("uint8")),
        "uint8",
        "integer is a higher category than bool",
    )


@points(1, "a Python number of a higher category is heard, as the default dtype")
def test_scalar_raises_category(yours):
    why = "1.5 is of a higher category than the tensor, and a Python float is the default dtype float32"
    equal(yours.result_dtype(tensor("int32"), scalar("float32")), "float32", why)
    equal(
        yours.result_dtype(tensor("bool"), scalar("int64")),
        "int64",
        "2 is of a higher category than the tensor",
    )


@points(1, "a Python number does not promote within its category")
def test_scalar_within_category(yours):
    equal(
        yours.result_dtype(tensor("float16"), scalar("float32")),
        "float16",
        "2.0 does not widen a float16 tensor",
    )
    equal(
        yours.result_dtype(zero_dim("int8"), scalar("int64")), "int8", "2 does not widen a 0-dim int8 tensor"
    )
    equal(yours.result_dtype(scalar("int64"), scalar("float32")), "float32", "two Python numbers: the table")


@points(1, "true division of integers gives float32")
def test_true_division(yours):
    equal(
        yours.division_dtype(tensor("int64"), tensor("int64")),
        "float32",
        "`/` is true division, never an integer",
    )
    equal(yours.division_dtype(tensor("bool"), scalar("int64")), "float32", "bool and int: the default dtype")
    equal(
        yours.division_dtype(tensor("float16"), scalar("int64")), "float16", "floating point stays as it is"
    )


@points(1, "any three kinds together")
def test_any(yours, rng):
    for _ in range(60):
        low, high = sorted(rng.sample(range(3), 2))
        small, large = rng.choice(BY_CATEGORY[low]), rng.choice(BY_CATEGORY[high])
        ask_scalar = SCALARS[rng.randrange(high + 1)]
        why = "the higher category wins, whatever its kind; lower ones are not heard"
        equal(yours.result_dtype(tensor(small), zero_dim(large), scalar(ask_scalar)), large, why)
        equal(yours.result_dtype(scalar(ask_scalar), zero_dim(small), tensor(large)), large, why)
