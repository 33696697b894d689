"""GradBucket: a bucket of DistributedDataParallel as communication hooks see it."""


class GradBucket:
    """The gradients of some parameters, side by side in one flat tensor (torch.distributed.GradBucket)."""

    def __init__(self, bucket, is_last):
        self._bucket, self._is_last = bucket, is_last

    def index(self):
        """Its number in the order of communication."""
        return self._bucket.number

    def buffer(self):
        """The flat tensor of all its gradients."""
        return self._bucket.flat

    def set_buffer(self, buffer):
        """Put the elements of another flat tensor in."""
        self._bucket.flat.copy_(buffer)

    def gradients(self):
        """The gradients, one for each parameter: views of the buffer."""
        return list(self._bucket.views)

    def parameters(self):
        """The parameters."""
        return list(self._bucket.parameters)

    def is_last(self):
        """Whether it is the last one of this backward pass."""
        return self._is_last
