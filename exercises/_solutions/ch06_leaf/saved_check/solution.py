"""What is saved for backward, and the check when it is used.

y = exp(x): the derivative is y itself, so exp saves its result. sin saves its input, add saves nothing, and
mul saves an operand only when the *other* one needs a gradient: d(x * y)/dx = y.

If a saved value is changed in place before the backward needs it, the gradient would be wrong. So along with
the value its version is saved, and *unpacking* compares. Changing a saved value is no error by itself: it may
be that no backward comes.

A tensor here has .values (a list), .requires_grad and ._version, and `add_(number)` changes it in place.
"""


class Saved:
    """A tensor that an operation saved for its backward."""

    def __init__(self, tensor):
        """tensor: what to save; it is not copied."""
        # solution
        self.tensor = tensor
        self.version = tensor._version
        # end of solution

    def unpack(self):
        """Return the saved tensor, the same object.

        RuntimeError if it was changed in place since it was saved. Its text contains (with the versions of
        this case) "is at version 2; expected version 1 instead".
        """
        # solution
        if self.tensor._version != self.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation was modified by an inplace operation: "
                f"it is at version {self.tensor._version}; expected version {self.version} instead"
            )
        return self.tensor
        # end of solution


def what_is_saved(operation, x, y, result):
    """Return the list of tensors that an operation saves for its backward, in the order x, y, result.

    operation: "exp", "sin", "add" or "mul". x: the operand; y: the second one of add and mul, otherwise None.
    result: the result. Where no operand requires a gradient, there is no backward, and nothing is saved.
    """
    # solution
    if not any(each is not None and each.requires_grad for each in (x, y)):
        return []
    if operation == "mul":
        return [x] * y.requires_grad + [y] * x.requires_grad
    return {"exp": [result], "sin": [x], "add": []}[operation]
    # end of solution
