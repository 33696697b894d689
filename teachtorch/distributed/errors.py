"""What goes wrong between processes, by PyTorch's names."""


class DistError(RuntimeError):
    """Something distributed has failed."""


class DistBackendError(DistError):
    """A collective failed: MPI said so, or ranks did not arrive in time."""


class DistNetworkError(DistError):
    """A network operation failed."""


class DistStoreError(DistError):
    """A store failed. There are no stores here; the name is there to be caught."""
