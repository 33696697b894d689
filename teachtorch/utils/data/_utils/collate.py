"""Collating functions, by PyTorch's names (torch.utils.data._utils.collate)."""
from ..collate import collate, default_collate, default_collate_fn_map, default_convert  # noqa: F401
from ..collate import collate_arrays as collate_numpy_array_fn  # noqa: F401
from ..collate import collate_floats as collate_float_fn  # noqa: F401
from ..collate import collate_ints as collate_int_fn  # noqa: F401
from ..collate import collate_numpy_numbers as collate_numpy_scalar_fn  # noqa: F401
from ..collate import collate_tensors as collate_tensor_fn  # noqa: F401
from ..collate import collate_text as collate_str_fn  # noqa: F401
