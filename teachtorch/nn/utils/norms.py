"""Norms of the slices of a weight, for weight norm (torch.norm_except_dim, torch._weight_norm)."""


def norm_except_dim(v, pow=2, dim=0):
    """The norm of each slice of `v` along `dim`, with all other dimensions kept as 1; of the whole `v` for dim -1."""
    if dim == -1:
        return v.norm(pow)
    others = [d for d in range(v.dim()) if d != dim]
    return v.norm(pow, others, keepdim=True)


def scaled_to_norm(v, g, dim=0):
    """g v / |v|: `v` with the norms `g`."""
    return v * (g / norm_except_dim(v, 2, dim))
