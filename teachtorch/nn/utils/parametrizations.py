"""Ready parametrizations: weight norm, spectral norm, orthogonal matrices.
https://pytorch.org/docs/stable/nn.html#utilities
"""
from enum import Enum, auto

import numpy as np

from ...autograd.grad_mode import no_grad
from ...ops.declare import exports
from ...tensor import Tensor, from_array
from .. import functional as F
from ..conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..module import Module
from . import parametrize
from .norms import norm_except_dim, scaled_to_norm

add, cat, eye, matrix_exp, mv, zeros_like = [exports[""][name] for name in (
    "add", "cat", "eye", "matrix_exp", "mv", "zeros_like")]
householder_product, solve = [exports["linalg"][name] for name in ("householder_product", "solve")]


def require_tensor(module, name):
    """The module's tensor of that name. ValueError if there is none."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def output_dim(module):
    """The dimension of a weight that counts outputs: the second of a transposed convolution, else the first."""
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0


# ---- weight norm ----------------------------------------------------------------------------------------------------

class _WeightNorm(Module):
    """weight = g v / |v|: length and direction apart."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return scaled_to_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Train the norm (original0) and the direction (original1) of a weight separately; returns the module.

    `dim`: each slice along it has a norm of its own; None: one norm for all.
    Source: Salimans and Kingma, Weight Normalization, 2016.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def take_old_names(state_dict, prefix, *_):
        """States of nn.utils.weight_norm call the two weight_g and weight_v."""
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(take_old_names)
    return module


# ---- spectral norm --------------------------------------------------------------------------------------------------

class _SpectralNorm(Module):
    """weight / sigma, with sigma the largest singular value by power iteration on the buffers _u and _v."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim % ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            self._start(self._as_matrix(weight))

    def _start(self, matrix):
        height, width = matrix.size()
        u, v = matrix.new_empty(height).normal_(0, 1), matrix.new_empty(width).normal_(0, 1)
        self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
        self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
        self._power_method(matrix, 15)

    def _as_matrix(self, weight):
        return weight if weight.ndim == 2 and self.dim == 0 else weight.movedim(self.dim, 0).flatten(1)

    @no_grad()
    def _power_method(self, matrix, times):
        """Bring u and v closer to the first singular vectors, in place: a state_dict holds them too."""
        for _ in range(times):
            self._u.copy_(F.normalize(mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(mv(matrix.mT, self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._as_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()        # the next forward changes the buffers, backward wants these
        return weight / u.dot(mv(matrix, v))

    def right_inverse(self, value):
        return value                                   # no inverse: the value becomes the original


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide a weight by its largest singular value, estimated by power iteration at each access in training mode.

    `dim`: the dimension that counts outputs; None: the usual one of the layer. Returns the module.
    Source: Miyato et al., Spectral Normalization for Generative Adversarial Networks, 2018.
    """
    weight = require_tensor(module, name)
    dim = output_dim(module) if dim is None else dim
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


# ---- orthogonal matrices --------------------------------------------------------------------------------------------

class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def reflections(matrix):
    """(A, tau): the QR factorisation as LAPACK's geqrf leaves it, the reflectors below the diagonal of A."""
    packed, tau = np.linalg.qr(matrix.detach().numpy(), mode="raw")
    return from_array(np.swapaxes(packed, -1, -2).copy()), from_array(np.ascontiguousarray(tau))


def nearest_orthogonal(matrix):
    """The Q of a QR factorisation whose R has a positive diagonal."""
    packed, tau = reflections(matrix)
    return householder_product(packed, tau) * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def is_orthogonal(matrix):
    rows, columns = matrix.shape[-2:]
    eps = 10.0 * rows * np.finfo(matrix.detach().numpy().dtype).eps
    return bool((matrix.mT @ matrix - eye(columns, dtype=matrix.dtype)).abs().max() <= eps + 1e-5)


class _Orthogonal(Module):
    """A map from all matrices onto the orthogonal ones; `base @` it, if trivialised, so that any value can be set."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        is_wide = X.size(-2) < X.size(-1)
        X = X.mT if is_wide else X
        Q = self._by_reflections(X) if self.orthogonal_map is _OrthMaps.householder else self._by_skew_symmetric(X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if is_wide else Q

    def _by_skew_symmetric(self, X):
        """exp(A), or the Cayley map (I - A/2)^-1 (I + A/2), of the skew-symmetric A = L - L^T."""
        rows, columns = X.shape[-2:]
        lower = X.tril()
        if rows != columns:
            lower = cat([lower, X.new_zeros((rows, rows - columns)).expand(*X.shape[:-2], -1, -1)], -1)
        A = lower - lower.mT
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            return matrix_exp(A)[..., :columns]
        identity = eye(rows, dtype=A.dtype, device=A.device)
        return solve(add(identity, A, alpha=-0.5), add(identity, A, alpha=0.5))[..., :columns]

    def _by_reflections(self, X):
        """The product of the Householder reflections along the columns of X."""
        A = X.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
        return householder_product(A, tau) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    @no_grad()
    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                             f"{Q.shape}.")
        is_wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if is_wide else Q
        if not hasattr(self, "base"):
            return self._reflectors_of(tall, is_wide)
        self.base = self._square(tall)
        minus_identity = zeros_like(Q)
        minus_identity.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus_identity                          # every map takes it to the identity (reflections: to -(-1))

    def _reflectors_of(self, tall, is_wide):
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley "
                                      "parametrizations when use_trivialization=False.")
        A, tau = reflections(tall)
        diagonal = A.diagonal(dim1=-2, dim2=-1)
        diagonal.copy_(diagonal.sign())
        diagonal[tau == 0.0] *= -1
        return A.mT if is_wide else A

    @staticmethod
    def _square(tall):
        """The matrix made orthogonal, and completed to a square one by random columns."""
        rows, columns = tall.shape[-2:]
        if rows == columns:
            return tall.clone() if is_orthogonal(tall) else nearest_orthogonal(tall)
        more = tall.new_empty((*tall.shape[:-2], rows, rows - columns)).normal_()
        return nearest_orthogonal(cat([tall, more], -1))


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep a matrix weight (or a batch of them) orthogonal; returns the module.

    `orthogonal_map`: "matrix_exp", "cayley" or "householder"; None: matrix_exp for square ones, else householder.
    `use_trivialization`: keep the last assigned value as a base, so that any orthogonal matrix can be assigned.
    ValueError for a weight of fewer than two dimensions or an unknown map. Source: Lezcano-Casado, Trivializations for
    Gradient-Based Optimization on Manifolds, 2019.
    """
    weight = require_tensor(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) else "householder"
    if orthogonal_map not in _OrthMaps.__members__:
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
                         f"{orthogonal_map}")
    orth = _Orthogonal(weight, _OrthMaps[orthogonal_map], use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, orth, unsafe=True)
    return module
