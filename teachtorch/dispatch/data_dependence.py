"""What a rule for tensors without data raises where it would have to look at them."""


class DataDependentSizeError(NotImplementedError):
    """A size of the result depends on the values of the arguments."""
