"""A tensor as bytes in a row on the host, which is all that MPI knows."""

from ..tensor import array_of, from_array


class HostBuffer:
    """The elements of a tensor where MPI reads and writes them: `array`, contiguous, in host memory.

    That is the tensor's own memory where it can be; else a copy, which `write_back` brings home.
    """

    def __init__(self, tensor):
        self.tensor = tensor.detach()
        array = array_of(self.tensor if self.tensor.is_cpu else self.tensor.cpu())
        self.is_copy = not (self.tensor.is_cpu and array.flags.c_contiguous)
        self.array = array.copy() if self.is_copy and not array.flags.c_contiguous else array

    def write_back(self):
        """Give the tensor what MPI has written."""
        if self.is_copy:
            self.tensor.copy_(from_array(self.array))


def host_copy(tensor):
    """The elements as a contiguous array of its own."""
    return HostBuffer(tensor).array.copy()


def fill(tensor, array):
    """Write an array of as many elements into the tensor."""
    tensor.detach().copy_(from_array(array.reshape(tuple(tensor.shape))))
