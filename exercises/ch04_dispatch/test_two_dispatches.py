"""Grades two_dispatches.py."""

from exercises.grading import equal, points, raises


def answer(t, *call):
    """What a call returns, or the text of its RuntimeError."""
    try:
        return t.call(*call)
    except NotImplementedError:
        raise
    except RuntimeError as error:
        return f"RuntimeError: {error}"


def table(yours):
    """mm on the CPU for two dtypes."""
    t = yours.Table()
    t.register("mm", "cpu", {"float32": lambda a, b: a * b, "int64": lambda a, b: a * b + 1000})
    return t


@points(1, "the function of the dtype runs, on the arguments")
def test_call(yours):
    equal(table(yours).call("mm", "cpu", "float32", 2, 3), 6, "mm on the cpu for float32 multiplies")
    equal(table(yours).call("mm", "cpu", "int64", 2, 3), 1006, "for int64 another function was registered")


@points(1, "a device without a kernel")
def test_no_device(yours):
    why = "no library has registered mm for xla"
    raises(RuntimeError, table(yours).call, "mm", "xla", "float32", 2, 3, why=why, text="Could not run 'mm' on the 'xla'")


@points(1, "a dtype that the kernel was not written for")
def test_no_dtype(yours):
    why = "the kernel's switch has no case for bool: it says so, and computes in no other dtype"
    raises(RuntimeError, table(yours).call, "mm", "cpu", "bool", 2, 3, why=why, text="'mm' not implemented for 'bool'")


@points(2, "the device is asked first")
def test_order(yours):
    why = "neither the device nor the dtype is there: the switch over dtypes lies inside a kernel that does not exist"
    raises(RuntimeError, table(yours).call, "mm", "xla", "bool", 2, 3, why=why, text="Could not run")


@points(2, "a library may come later")
def test_later(yours):
    t = table(yours)
    t.call("mm", "cpu", "float32", 1, 1)
    t.register("mm", "cuda", {"float32": lambda a, b: -a * b})
    equal(answer(t, "mm", "cuda", "float32", 2, 3), -6, "cuda was registered after the first call: the table is open")
    t.register("mm", "cpu", {"float32": lambda a, b: 7})
    equal(t.call("mm", "cpu", "float32", 2, 3), 7, "a kernel registered again replaces the first")


@points(1, "what there is can be listed")
def test_devices(yours):
    t = table(yours)
    t.register("add", "xla", {"float32": lambda a, b: a + b})
    t.register("mm", "cuda", {"float32": lambda a, b: a})
    equal(t.devices("mm"), ["cpu", "cuda"], "mm has kernels for two devices")
    equal(t.devices("relu"), [], "nobody has registered relu")


@points(1, "tables know nothing of each other")
def test_apart(yours):
    table(yours).register("mm", "cuda", {"float32": lambda a, b: a})
    equal(table(yours).devices("mm"), ["cpu"], "another Table was given cuda, not this one")
