"""Grades saved_check.py."""

from exercises.grading import equal, holds, points, raises


class Tensor:
    """A list of numbers with a version."""

    def __init__(self, name, *values, requires_grad=True):
        self.name, self.values, self.requires_grad, self._version = name, list(values), requires_grad, 0

    def __repr__(self):
        return self.name

    def add_(self, number):
        self.values = [value + number for value in self.values]
        self._version += 1
        return self


def names(tensors):
    """The names of a list of tensors; what is no such list is left as it is."""
    is_list = type(tensors) is list and all(type(each) is Tensor for each in tensors)
    return [each.name for each in tensors] if is_list else tensors


@points(1, "unpack gives back the very tensor")
def test_unpack(yours):
    y = Tensor("y", 1.0, 2.0)
    same = yours.Saved(y).unpack() is y
    holds(same, "nothing is copied: saving costs no memory", what="Saved(y).unpack()", expected="y itself")


@points(1, "a change after saving is an error when unpacking")
def test_changed(yours):
    y = Tensor("y", 1.0, 2.0).add_(1)
    saved = yours.Saved(y)
    y.add_(1)
    why = "y was at version 1 when it was saved, and is at 2 now"
    raises(RuntimeError, saved.unpack, why=why, text="is at version 2; expected version 1 instead")


@points(1, "changed back is changed")
def test_changed_back(yours):
    y = Tensor("y", 1.0, 2.0)
    saved = yours.Saved(y)
    y.add_(5).add_(-5)
    why = "versions are compared, not values: that costs two integers, and misses nothing"
    raises(RuntimeError, saved.unpack, why=why, text="is at version 2; expected version 0 instead")


@points(1, "changes before saving do not matter")
def test_changed_before(yours):
    y = Tensor("y", 1.0).add_(1).add_(1)
    saved = yours.Saved(y)
    same = saved.unpack() is y and saved.unpack() is y
    holds(same, "it was saved at version 2 and is at version 2", what="y.add_(1).add_(1); Saved(y).unpack()")


@points(1, "a change that no backward meets is no error")
def test_never_unpacked(yours):
    y = Tensor("y", 1.0)
    saved = yours.Saved(y)
    y.add_(1)
    equal(
        y.values,
        [2.0],
        "the check is in unpack: changing a saved tensor is allowed",
        what="y after y.add_(1)",
    )
    again = yours.Saved(y)
    holds(again.unpack() is y, "another operation saved it after the change", what="a second Saved(y)")
    raises(
        RuntimeError, saved.unpack, why="the first one is out of date", text="version 1; expected version 0"
    )


@points(1, "what each operation saves")
def test_what(yours):
    x, y, result = Tensor("x"), Tensor("y"), Tensor("result")
    equal(
        names(yours.what_is_saved("exp", x, None, result)), ["result"], "the derivative of exp is its result"
    )
    equal(names(yours.what_is_saved("sin", x, None, result)), ["x"], "the derivative is cos(x)")
    why = "the derivative of a sum is 1: no value is needed, so a later change is no error"
    equal(names(yours.what_is_saved("add", x, y, result)), [], why)


@points(1, "mul saves an operand for the other one")
def test_mul(yours):
    x, y, c = Tensor("x"), Tensor("y"), Tensor("c", requires_grad=False)
    equal(
        names(yours.what_is_saved("mul", x, y, Tensor("r"))),
        ["x", "y"],
        "each is the derivative of the other",
    )
    why = "x needs a gradient, and its derivative is c; c needs none, so x is not saved"
    equal(names(yours.what_is_saved("mul", x, c, Tensor("r"))), ["c"], why)
    equal(
        names(yours.what_is_saved("mul", c, y, Tensor("r"))), ["c"], "y needs a gradient; its derivative is c"
    )


@points(1, "without a backward nothing is saved")
def test_no_grad(yours):
    c, d = Tensor("c", requires_grad=False), Tensor("d", requires_grad=False)
    for operation, second in (("exp", None), ("sin", None), ("add", d), ("mul", d)):
        equal(
            names(yours.what_is_saved(operation, c, second, Tensor("r"))),
            [],
            "no operand requires a gradient",
        )
