"""The operators, each declared once (declare.py), and their listing.

`for op in teachtorch.ops: print(op)`: every operator with its signature, kernels, VJP, JVP and fake rule.
"""

# The modules that hold declarations, in the order in which they are imported.
MODULES = (
    # element by element
    "pointwise", "comparison", "elementary", "error_gamma", "activation", "functional_activation", "special",
    "bessel", "polynomials",
    # over dimensions
    "reduction", "extrema", "vector_norm", "statistics", "order_statistics", "histograms", "scan", "sorting", "softmax",
    "loss", "loss_pointwise", "normalization",
    "matmul", "matmul_sums",
    # shapes, copies, new tensors
    "view", "splitting", "view_in_place", "creation", "convert", "joining", "turning", "diagonals",
    "generators", "random", "questions", "view_copies", "interchange", "sharing", "random_counts", "differences",
    "indexing", "picking", "masking", "scatter", "embedding", "histograms_with_edges", "segments",
    "einsum", "contractions",
    "linalg_older", "linalg", "linalg_factor", "linalg_orthogonal", "linalg_lu", "linalg_ldl", "linalg_least_squares",
    "linalg_norms", "linalg_vectors", "linalg_low_rank",
    "dropout",
    # space
    "padding", "convolution", "unfolding", "max_pooling", "max_unpooling", "average_pooling", "adaptive_pooling",
    "fractional_pooling", "batch_norm", "group_norm", "resize", "grid_sample",
    # through time
    "recurrent", "attention", "multihead_attention",
    # made of the above
    "measures", "loss_ctc", "loss_ranking", "loss_margin",
    # all parameters at once
    "foreach", "fused_optim",
    # on accelerators
    "launch", "transfer", "on_cuda",
    # the second layout
    "sparse",
    # taken over by classes and modes
    "torch_dispatch",
)
