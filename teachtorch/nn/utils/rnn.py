"""Sequences of different lengths as one tensor: padded, or packed step by step.

A PackedSequence holds the rows of all sequences that are still running at step 0, then those at step 1, and
so on; `batch_sizes` counts them. The sequences lie in order of decreasing length; `sorted_indices` says
where each one comes from. https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.PackedSequence.html
"""

from collections import namedtuple
from collections.abc import Iterable

import numpy as np

from ...core import dtype as dt
from ...ops.declare import exports
from ...tensor import Tensor, array_of, from_array

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

as_tensor, arange, cat = (exports[""][name] for name in ("as_tensor", "arange", "cat"))
PackedFields = namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(PackedFields):
    """Packed rows `data` (rows, ...), with `batch_sizes` (steps,) and the permutations there and back, or None.

    pack_padded_sequence and pack_sequence make it; recurrent modules take and return it.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created "
                "manually. They should be instantiated by functions like pack_sequence and "
                "pack_padded_sequences in nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The sequence with `data` moved or converted; itself where that changes nothing."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        indices = [None if t is None else t.to(data.device) for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *indices)

    def cpu(self, *args, **kwargs):
        """The sequence on the CPU."""
        return self.to("cpu", *args, **kwargs)

    def cuda(self, *args, **kwargs):
        """The sequence on a GPU."""
        return self.to(*args, **{"device": "cuda", **kwargs})

    @property
    def is_cuda(self):
        """Whether `data` is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether `data` is in pinned memory."""
        return self.data.is_pinned()

    def pin_memory(self):
        """The sequence in pinned memory."""
        indices = [None if t is None else t.pin_memory() for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *indices)


def conversion(name, dtype):
    def convert(self):
        return self.to(dtype=dtype)

    convert.__name__ = name
    convert.__doc__ = f"The sequence with data of dtype {dtype}."
    return convert


for _name, _dtype in (
    ("double", dt.float64),
    ("float", dt.float32),
    ("half", dt.float16),
    ("long", dt.int64),
    ("int", dt.int32),
    ("short", dt.int16),
    ("char", dt.int8),
    ("byte", dt.uint8),
):
    setattr(PackedSequence, _name, conversion(_name, _dtype))


def invert_permutation(permutation):
    """The permutation that undoes another (a vector of indices); None of None."""
    if permutation is None:
        return None
    output = permutation.new_empty(permutation.shape)
    return output.scatter_(0, permutation, arange(permutation.numel(), device=permutation.device))


# ---- packing -----------------------------------------------------------------------------------------------


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack padded sequences (steps, batch, ...), or (batch, steps, ...) with batch_first.

    `lengths`: of each sequence, a list or a CPU tensor. `enforce_sorted`: refuse lengths that increase;
    otherwise the sequences are sorted first. RuntimeError for lengths that do not fit.
    """
    if isinstance(lengths, Tensor) and (lengths.dim() != 1 or lengths.device.type != "cpu"):
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D "
            f"{lengths.device.type} Long tensor"
        )
    lengths = lengths.long() if isinstance(lengths, Tensor) else as_tensor(lengths, dtype=dt.int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    input = input.transpose(0, 1) if batch_first else input
    found = array_of(lengths)
    check_lengths(input, found)
    running = np.arange(found[0])[:, None] < found  # (step, sequence): whether it has not yet ended
    rows = from_array(running.reshape(-1).nonzero()[0])
    data = input.narrow(0, 0, int(found[0])).reshape(-1, *input.shape[2:]).index_select(0, rows)
    return PackedSequence(data, from_array(running.sum(1)), sorted_indices, None)


def check_lengths(input, lengths):
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if lengths.shape != (input.shape[1],):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.size} (batch_size={input.shape[1]})"
        )
    if lengths[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if (lengths[1:] > lengths[:-1]).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
            "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not need ONNX exportability."
        )


def pack_sequence(sequences, enforce_sorted=True):
    """Pack a list of tensors (length, ...) that differ in their lengths."""
    lengths = [s.size(0) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded sequences (steps, batch, ...), lengths), in their first order.

    `total_length`: how many steps; ValueError if a sequence is longer.
    """
    counts = array_of(sequence.batch_sizes)
    steps = checked_length(counts.size, total_length)
    running = np.arange(counts[0]) < counts[:, None]
    rows = from_array(running.reshape(-1).nonzero()[0])
    data = sequence.data
    filled = data.new_full((steps * int(counts[0]), *data.shape[1:]), padding_value).index_copy(0, rows, data)
    padded = filled.view((steps, int(counts[0]), *data.shape[1:]))
    padded = padded.transpose(0, 1) if batch_first else padded
    lengths = from_array(running.sum(0))
    if sequence.unsorted_indices is None:
        return padded, lengths
    order = sequence.unsorted_indices
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def checked_length(longest, total_length):
    if total_length is None:
        return longest
    if total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    return total_length


# ---- padding -----------------------------------------------------------------------------------------------


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors (length, ...) side by side as (longest, batch, ...), or (batch, longest, ...) with batch_first.

    `padding_side`: "right" pads at the end, "left" at the beginning.
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = tuple(sequences)
    for place, sequence in enumerate(sequences):
        if not isinstance(sequence, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(sequence).__name__}")
    check_padding(sequences, padding_side)
    longest = max(s.size(0) for s in sequences)
    rest = sequences[0].shape[1:]
    shape = (len(sequences), longest) if batch_first else (longest, len(sequences))
    out = sequences[0].new_full((*shape, *rest), padding_value)
    for place, sequence in enumerate(sequences):
        length = sequence.size(0)
        row = out.select(0 if batch_first else 1, place)
        row.narrow(0, 0 if padding_side == "right" else longest - length, length).copy_(sequence)
    return out


def check_padding(sequences, padding_side):
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    rest = sequences[0].shape[1:]
    for sequence in sequences:
        if sequence.shape[1:] != rest:
            raise RuntimeError(
                f"The size of tensor a ({sequence.size(-1)}) must match the size of tensor b "
                f"({rest[-1]}) at non-singleton dimension {len(rest)}"
            )


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences (length, ...) of a padded tensor, as a list. Without batch_first it is transposed in place."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    steps = arange(padded_sequences.shape[1], device=lengths.device)
    return [sequence[steps < length] for sequence, length in zip(padded_sequences, lengths, strict=True)]


def unpack_sequence(packed_sequences):
    """The sequences of a PackedSequence, as a list of tensors (length, ...)."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences, batch_first=True), batch_first=True)
