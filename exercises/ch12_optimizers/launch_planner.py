"""How many kernels does one foreach operation launch?

A foreach operation on a GPU goes through lists of tensors: for addcdiv_(p, m, v) three lists. One launch
describes its tensors in the kernel's arguments, which have little room. From MultiTensorApply.cuh:

    - A tensor is cut into chunks of 65 536 elements; the last may be shorter. Empty tensors are passed over.
    - A launch closes when it has 320 chunks, or when it has as many tensors as fit and the last of them is
      complete. As many as fit: 110, 64, 48, 36, 30 for 1 to 5 lists; 96, 64, 48, 36, 30 if each tensor also
      has a number of its own (Adam's corrections differ from tensor to tensor).
    - A tensor that is cut by the limit of chunks goes on in the next launch, and takes a place there, too.
    - Tensors of different devices or dtypes are never in one launch.
"""

CHUNK = 65536
MAX_CHUNKS = 320
MAX_TENSORS = (110, 64, 48, 36, 30)
MAX_TENSORS_WITH_NUMBERS = (96, 64, 48, 36, 30)


def launches_of_list(sizes, lists, numbers=False):
    """Launches for tensors of one device and dtype. sizes: their numbers of elements. lists: 1 to 5.

    numbers: whether each tensor has a number of its own.
    """
    raise NotImplementedError


def launches(tensors, lists, numbers=False):
    """Launches for a list of (number of elements, device, dtype)."""
    raise NotImplementedError


def adam_launches(tensors):
    """(for-loop, foreach): launches of a step of Adam.

    Its operations, with their numbers of lists: lerp_ 2, mul_ 1, addcmul_ 3, sqrt 2, div_ 1, add_ 1, addcdiv_
    3. In div_ and addcdiv_ each tensor has a number of its own. The for-loop launches each of them for each
    tensor that is not empty.
    """
    raise NotImplementedError
