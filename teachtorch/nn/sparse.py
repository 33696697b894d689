"""Embedding: a table of learned rows, looked up by index."""
from ..autograd.grad_mode import no_grad
from ..ops.declare import exports
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

empty = exports[""]["empty"]


class Embedding(Module):
    """Rows of a table `weight` of shape (num_embeddings, embedding_dim), one per index of an integer input.

    Starts standard normal. `padding_idx`: a row that starts at zero and gets no gradient. `max_norm`: rows looked up
    are first scaled down, in the table, to this norm. `scale_grad_by_freq`: gradients are divided by how often the row
    was looked up.
    """

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = row_number(padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            table = empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self):
        """Draw the table anew; the padding row is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    def extra_repr(self):
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        for name, default in (("padding_idx", None), ("max_norm", None), ("norm_type", 2),
                              ("scale_grad_by_freq", False), ("sparse", False)):
            value = getattr(self, name)
            parts += [f"{name}={value}"] if value != default else []
        return ", ".join(parts)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0,
                        scale_grad_by_freq=False, sparse=False):
        """An Embedding over a given 2-D table, which does not train unless `freeze` is False."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


def row_number(index, rows):
    """A row counted from the front. AssertionError out of range."""
    if index is None:
        return None
    if not -rows <= index < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return index % rows
