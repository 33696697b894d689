"""The rule of ``x[key]``, replayed: which dims the result has, and what each of its indices means.

Source: applySlicing and THPVariable_getitem in torch/csrc/autograd/python_variable_indexing.cpp, and
hasContiguousSubspace in aten/src/ATen/native/IndexingUtils.h.
"""

from viz.engines import library_of
from viz.tensors import dtype_name, has_values, is_tensor, on_cpu

_LONGEST_LIST = 16


class IndexRule:
    """What ``x[key]`` does, dim by dim.

    plain_key: the key with lists as tensors. written: the key as text. advanced: whether index tensors take
    part, and count: how many; masked: whether a mask is among them. together: whether they stand side by
    side. shape: their common shape. at: where it begins in the result.
    """

    def __init__(self, x, key, frame_names):
        self._library, self._names = library_of(x), frame_names
        self.name = _name(frame_names, x, "x")
        parts = list(key) if isinstance(key, tuple) else [key]
        self.written = ", ".join(self._text(part) for part in parts) or "()"
        self.plain_key = tuple(self._plain(part) for part in parts)
        self._parts = self._spelled_out(parts, x.dim())
        self._pair_with_dims()
        self._place_index_dims()

    # Reading the key

    def _plain(self, part):
        """A list or an array as the tensor that indexing makes of it, a tensor on the CPU."""
        if isinstance(part, bool) or (is_tensor(part) and _is_mask(part) and part.dim() == 0):
            raise TypeError("viz.index draws no single True or False in a key; pass a mask")
        if is_tensor(part):
            return on_cpu(part)
        is_sequence = isinstance(part, (list, tuple)) or hasattr(part, "__array__")
        return self._library.tensor(part) if is_sequence else part

    def _text(self, part):
        if isinstance(part, slice):
            ends = ["" if each is None else str(each) for each in (part.start, part.stop, part.step)]
            return ":".join(ends[:2]) + (f":{ends[2]}" if ends[2] else "")
        if part is Ellipsis:
            return "..."
        if is_tensor(part):
            return _name(self._names, part, "mask" if _is_mask(part) else "index")
        if hasattr(part, "__array__"):
            return "[...]"
        return repr(part) if len(repr(part)) <= _LONGEST_LIST else "[...]"

    def _spelled_out(self, parts, dims):
        """The key with ``...`` and missing parts as slices, masks as one index for each of their dims."""
        taken = sum(self._dims_of(part) for part in parts)
        rest = [slice(None)] * (dims - taken)
        if not any(part is Ellipsis for part in parts):
            parts = [*parts, Ellipsis]
        spread = []
        for part in parts:
            spread += rest if part is Ellipsis else self._split(part)
        return spread

    def _dims_of(self, part):
        """How many dims of the tensor this part takes."""
        if part is None or part is Ellipsis:
            return 0
        plain = self._plain(part)
        return plain.dim() if is_tensor(plain) and _is_mask(plain) else 1

    def _split(self, part):
        """A part of the key as a list of None, int, slice or (text, tensor, further index of the text)."""
        plain = self._plain(part)
        if not is_tensor(plain):
            return [part]
        if not has_values(plain):
            raise ValueError("viz.index reads the values of index tensors; one on device meta has none")
        name = self._text(part)
        if _is_mask(plain):
            found = plain.nonzero(as_tuple=True)
            return [(f"{name}.nonzero()", each, [column]) for column, each in enumerate(found)]
        return [int(plain.item())] if plain.dim() == 0 else [(name, plain, [])]

    # From the key to dims

    def _pair_with_dims(self):
        """(part, dim of the tensor) pairs; None has no dim."""
        self.pairs, dim = [], 0
        for part in self._parts:
            self.pairs.append((part, None if part is None else dim))
            dim += part is not None

    def _place_index_dims(self):
        """Index tensors make one block of dims: at the first one if they stand together, else in front."""
        kept = [part for part, _ in self.pairs if not isinstance(part, int)]
        places = [k for k, part in enumerate(kept) if isinstance(part, tuple)]
        self.advanced, self.count = bool(places), len(places)
        self.masked = any(is_tensor(part) and _is_mask(part) for part in self.plain_key)
        self.together = places == list(range(places[0], places[-1] + 1)) if places else True
        shapes = [tuple(part[1].shape) for part in kept if isinstance(part, tuple)]
        self.shape = tuple(self._library.broadcast_shapes(*shapes)) if shapes else ()
        self.at = places[0] if places and self.together else 0
        self.plain_dims = [part for part in kept if not isinstance(part, tuple)]

    @property
    def colour_dim(self):
        """The dim of the tensor whose position gives the colour: the first one that is picked from."""
        picked = [dim for part, dim in self.pairs if isinstance(part, tuple)]
        cut = [dim for part, dim in self.pairs if isinstance(part, slice) and part != slice(None)]
        return (picked or cut or [0])[0]

    # What an index of the result means

    def formula(self, out):
        """A function of (index of the result, index of the tensor) that writes the rule out."""

        def written(near, far):
            inside = ", ".join(self._subscripts(near))
            looked_up = f" = {self.name}{list(far)}" if self.advanced else ""
            return f"out{list(near)} = {self.name}[{inside}]{looked_up}{out.equals(near)}"

        return written

    def _subscripts(self, near):
        """For each dim of the tensor what is looked up there."""
        block = near[self.at : self.at + len(self.shape)]
        others = iter(near[: self.at] + near[self.at + len(self.shape) :])
        found = []
        for part, dim in self.pairs:
            if isinstance(part, tuple):
                found.append(_looked_up(part[0], _aligned(block, part[1]) + part[2]))
            elif part is None:
                next(others)
            else:
                found.append(str(part) if isinstance(part, int) else _stepped(part, next(others)))
        return found


def _looked_up(name, place):
    """``rows[1, 0]``; a list is indexed one dim at a time: ``[[0], [1]][1][0]``."""
    return name + "".join(f"[{i}]" for i in place) if name.startswith("[") else f"{name}{place}"


def _aligned(block, tensor):
    """The place in an index tensor: its dims are matched from the right, and one of size 1 stays at 0."""
    own = block[len(block) - tensor.dim() :]
    return [0 if size == 1 else i for i, size in zip(own, tensor.shape, strict=True)]


def _stepped(part, i):
    """``1 + 2*3`` for an index into a slice with start 1 and step 2."""
    start, step = part.start or 0, part.step or 1
    if start < 0:
        return f"({start}) + {i}" if step == 1 else f"({start}) + {i}*{step}"
    scaled = str(i) if step == 1 else f"{i}*{step}"
    return f"{start} + {scaled}" if start else scaled


def _is_mask(tensor):
    return dtype_name(tensor.dtype) in ("bool", "uint8")


def _name(frame_names, tensor, otherwise):
    known = frame_names.of(tensor)
    return known[0] if known else otherwise
