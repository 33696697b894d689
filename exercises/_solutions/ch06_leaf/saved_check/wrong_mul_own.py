"""Saves an operand of mul when that one needs a gradient."""

FAILS = "test_mul"
SAYS = "so x is not saved"


class Saved:
    def __init__(self, tensor):
        self.tensor = tensor
        self.version = tensor._version

    def unpack(self):
        if self.tensor._version != self.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation was modified by an inplace operation: "
                f"it is at version {self.tensor._version}; expected version {self.version} instead"
            )
        return self.tensor


def what_is_saved(operation, x, y, result):
    if not any(each is not None and each.requires_grad for each in (x, y)):
        return []
    if operation == "mul":
        return [x] * x.requires_grad + [y] * y.requires_grad
    return {"exp": [result], "sin": [x], "add": []}[operation]
