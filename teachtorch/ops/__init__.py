"""The operators, each declared once (declare.py), and their listing.

`for op in teachtorch.ops: print(op)`: every operator with its signature, kernels, VJP, JVP and fake rule.
"""
MODULES = ("pointwise", "comparison", "elementary", "activation", "reduction", "statistics",
           "scan", "sorting", "softmax", "loss", "matmul", "matmul_sums", "view", "creation", "convert", "joining", "random", "questions", "view_copies", "interchange", "indexing", "picking", "masking", "scatter", "embedding", "einsum", "linalg", "linalg_factor", "linalg_orthogonal", "linalg_lu", "linalg_least_squares", "linalg_norms", "linalg_vectors", "dropout", "loss_pointwise", "fused_optim")
