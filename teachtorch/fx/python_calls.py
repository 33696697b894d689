"""How PyTorch's functions that are written in Python hand a call on to a tracer: with all defaults filled in.

`F.dropout(x)` reaches the tracer as dropout(x, p=0.5, training=True, inplace=False): a pass may rely on
`node.kwargs["training"]`, however the call was written. Functions written in C++ (`F.linear`, `torch.add`) arrive as
they were called.
"""
import functools
import inspect

from ..nn import functional
from ..ops.declare import exports

IN_FUNCTIONAL = """
    adaptive_avg_pool2d adaptive_avg_pool3d affine_grid alpha_dropout batch_norm binary_cross_entropy
    binary_cross_entropy_with_logits celu cosine_embedding_loss cross_entropy ctc_loss dropout dropout1d dropout2d
    dropout3d elu embedding embedding_bag feature_alpha_dropout fold gaussian_nll_loss glu grid_sample group_norm
    gumbel_softmax hardsigmoid hardswish hardtanh hinge_embedding_loss huber_loss instance_norm interpolate kl_div l1_loss
    layer_norm leaky_relu local_response_norm log_softmax lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss max_pool1d
    max_pool2d max_pool3d max_unpool1d max_unpool2d max_unpool3d mish mse_loss multi_margin_loss multilabel_margin_loss
    multilabel_soft_margin_loss nll_loss normalize pad poisson_nll_loss relu relu6 rrelu selu silu smooth_l1_loss
    soft_margin_loss softmax softmin softsign tanhshrink threshold triplet_margin_loss triplet_margin_with_distance_loss
    unfold
""".split()
IN_TORCH = ("norm", "split")


@functools.cache
def signatures():
    """{function: its signature}."""
    functions = [getattr(functional, name) for name in IN_FUNCTIONAL] + [exports[""][name] for name in IN_TORCH]
    return {function: inspect.signature(function) for function in functions}


def as_handed_on(function, args, kwargs):
    """(args, kwargs) as PyTorch hands them on: in its place what has no default, by its name all else."""
    signature = signatures().get(function)
    if signature is None:
        return args, kwargs
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    required = [name for name, p in signature.parameters.items() if p.default is p.empty]
    return (tuple([bound.arguments[name] for name in required]),
            {name: value for name, value in bound.arguments.items() if name not in required})
