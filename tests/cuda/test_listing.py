"""Which operators have a kernel on the GPU: a list that only grows."""

import teachtorch as torch
from teachtorch.dispatch.operator import registry
from teachtorch.ops.on_cuda import kernel_of, native, operators_with_kernels

# Besides all pointwise operators. Who writes a kernel adds its operator here.
WITH_KERNELS = """
_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _adaptive_avg_pool3d _adaptive_avg_pool3d_backward
_convolution_backward_weight _foreach_abs _foreach_abs_ _foreach_add.List _foreach_add.Scalar
_foreach_add_.List _foreach_add_.Scalar _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul
_foreach_addcmul_ _foreach_copy _foreach_copy_ _foreach_div.List _foreach_div.Scalar _foreach_div_.List
_foreach_div_.Scalar _foreach_lerp _foreach_lerp_ _foreach_maximum.List _foreach_maximum.Scalar
_foreach_maximum_.List _foreach_maximum_.Scalar _foreach_minimum.List _foreach_minimum.Scalar
_foreach_minimum_.List _foreach_minimum_.Scalar _foreach_mul.List _foreach_mul.Scalar _foreach_mul_.List
_foreach_mul_.Scalar _foreach_neg _foreach_neg_ _foreach_reciprocal _foreach_reciprocal_ _foreach_sign
_foreach_sign_ _foreach_sqrt _foreach_sqrt_ _foreach_sub.List _foreach_sub.Scalar _foreach_sub_.List
_foreach_sub_.Scalar _fused_adagrad_ _fused_adam_ _fused_adamw_ _fused_sgd_ _log_softmax
_log_softmax_backward_data _softmax _softmax_backward_data _to_copy addbmm addbmm_ addmm addmm_ addmv
addmv_ addr addr_ all amax amin aminmax any arange argmax argmin avg_pool2d avg_pool2d_backward
avg_pool3d avg_pool3d_backward baddbmm baddbmm_ bernoulli bernoulli_ binary_cross_entropy_with_logits
block_diag bmm cat clone col2im constant_pad_nd contiguous convolution copy_ count_nonzero cummax cummin
cumprod cumprod_ cumsum cumsum_ diag_embed diagonal_backward diagonal_copy diagonal_scatter dot embedding
embedding_dense_backward exponential_ eye fill fill_ flip full gather gelu gelu_backward huber_loss
im2col index index_add index_add_ index_backward index_copy index_copy_ index_fill index_fill_ index_put
index_put_ index_select isclose linalg.vector_norm logcumsumexp logsumexp masked_fill masked_fill_ max
max_dim max_pool2d_with_indices max_pool2d_with_indices_backward max_pool3d_with_indices
max_pool3d_with_indices_backward max_unpool2d max_unpool3d mean mean_dim min min_dim mm mse_loss
mse_loss_backward mv nansum native_batch_norm native_batch_norm_backward native_group_norm
native_group_norm_backward native_layer_norm native_layer_norm_backward nll_loss nll_loss2d
nll_loss_backward normal_ ones pixel_shuffle pixel_unshuffle prod prod_dim put put_ rand randint randn
random_ repeat roll rot90 scatter_add scatter_add_ scatter_reduce scatter_reduce_ scatter_src
scatter_src_ scatter_value scatter_value_ scatter_with scatter_with_ select_backward select_scatter
slice_backward slice_scatter smooth_l1_loss soft_margin_loss stack std std_mean sum sum_dim take trace
tril tril_ triu triu_ unfold_backward uniform_ value_selecting_reduction_backward var var_mean vdot where
zero_ zeros
""".split()


def test_the_list():
    assert sorted(set(native) - {"pointwise"}) == sorted(WITH_KERNELS)


def test_pointwise_operators_have_kernels_from_their_declarations():
    pointwise = {name for name, op in registry.items() if getattr(op.info, "pointwise", None)}
    assert len(pointwise) > 150
    assert set(operators_with_kernels()) == pointwise | set(WITH_KERNELS)
    assert kernel_of(registry["tanh"]) is native["pointwise"]


def test_the_table_says_it():
    assert torch.ops["cumsum"].cuda == "kernel" and torch.ops["tanh"].cuda == "kernel"
    assert torch.ops["sort"].cuda == "host" and torch.ops["linear"].cuda == "composed"
