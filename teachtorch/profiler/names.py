"""The names that PyTorch's profiler shows for what runs here."""
import functools

from ..dispatch.operator import registry
from ..ops.namespaces import full_name

# Public functions under which PyTorch runs an operator of another name.
RENAMED = {"cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd",
           **dict.fromkeys("bfloat16 bool byte char double float half int long short cpu sim type".split(),
                           "to"),
           "T": "numpy_T"}

# Public functions that are no operators in PyTorch either: Python that calls others, and questions.
PLAIN = frozenset("""
    _assert adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices
    affine_grid apply_ as_tensor asarray backward broadcast_shapes can_cast const_data_ptr dim_order dropout1d
    dropout2d dropout3d fold fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices from_dlpack
    from_numpy frombuffer gaussian_nll_loss get_default_device get_default_dtype get_device get_rng_state
    grid_sample gumbel_softmax initial_seed interpolate linear_cross_entropy local_response_norm logsigmoid
    lp_pool1d lp_pool2d lp_pool3d lu manual_seed map_ max_unpool1d multi_head_attention_forward
    multilabel_soft_margin_loss new new_tensor norm normalize numel promote_types record_stream result_type
    scalar_tensor seed set_ set_default_device set_default_dtype set_default_tensor_type set_rng_state softmin
    softsign tanhshrink tensor to_dlpack triplet_margin_with_distance_loss typename unique unravel_index
    upsample upsample_bilinear upsample_nearest
""".split())


@functools.cache
def operator_name(name):
    """"aten::mul": an operator of ours under PyTorch's name, without the overload."""
    space, short, _ = full_name(registry[name], ())
    return f"{space}::{short}"


@functools.cache
def function_name(name):
    """"aten::cross_entropy_loss" for a public function; None for one that PyTorch's profiler leaves out."""
    if name in PLAIN or name.startswith(("is_", "__")):
        return None
    return f"aten::{RENAMED.get(name, name)}"
