"""Compares the values instead of the versions."""

FAILS = "test_changed_back"
SAYS = "versions are compared, not values"


class Saved:
    def __init__(self, tensor):
        self.tensor = tensor
        self.version = tensor._version
        self.values = list(tensor.values)

    def unpack(self):
        if self.tensor.values != self.values:
            raise RuntimeError(
                "one of the variables needed for gradient computation was modified by an inplace operation: "
                f"it is at version {self.tensor._version}; expected version {self.version} instead"
            )
        return self.tensor


def what_is_saved(operation, x, y, result):
    if not any(each is not None and each.requires_grad for each in (x, y)):
        return []
    if operation == "mul":
        return [x] * y.requires_grad + [y] * x.requires_grad
    return {"exp": [result], "sin": [x], "add": []}[operation]
