"""Names for annotations (torch.types)."""
import builtins
import os
from collections.abc import Sequence
from typing import TypeAlias

from .core.device import device
from .core.dtype import dtype
from .tensor import Size, Tensor  # noqa: F401

_bool, _int, _float = builtins.bool, builtins.int, builtins.float

Number: TypeAlias = _int | _float | _bool
Device: TypeAlias = device | str | _int | None
FileLike: TypeAlias = str | os.PathLike
Storage: TypeAlias = object
_dtype, _device, _size = dtype, device, Size | list[_int] | tuple[_int, ...]
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
