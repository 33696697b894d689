"""Embedding and EmbeddingBag: a table of learned rows, looked up by index."""
from ..autograd.grad_mode import no_grad
from ..ops.declare import exports
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter

empty = exports[""]["empty"]


class Table(Module):
    """A table `weight` of shape (num_embeddings, embedding_dim); starts standard normal, its padding row zero."""

    def __init__(self, num_embeddings, embedding_dim, padding_idx, weight, freeze, device, dtype):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = row_number(padding_idx, num_embeddings, self.PADDING)
        if weight is None:
            table = empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not freeze)
            self.reset_parameters()
        else:
            if tuple(weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self):
        """Draw the table anew; the padding row is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(Table):
    """Rows of a table `weight` of shape (num_embeddings, embedding_dim), one per index of an integer input.

    `padding_idx`: a row that starts at zero and gets no gradient. `max_norm`: rows looked up are first scaled down, in
    the table, to this norm. `scale_grad_by_freq`: gradients are divided by how often the row was looked up.
    """

    PADDING = "Padding_idx"

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    def extra_repr(self):
        options = (("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False),
                   ("sparse", False))
        return f"{self.num_embeddings}, {self.embedding_dim}" + changed_options(self, options)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0,
                        scale_grad_by_freq=False, sparse=False):
        """An Embedding over a given 2-D table, which does not train unless `freeze` is False."""
        check_table(embeddings)
        return cls(*embeddings.shape, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


class EmbeddingBag(Table):
    """The sum, mean or maximum (`mode`) of a bag of rows of the table, without making the rows.

    Bags are the rows of a 2-D input, or the parts of a 1-D input that start at `offsets`. Entries that are
    `padding_idx` do not count. The other options are Embedding's.
    """

    PADDING = "padding_idx"

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 mode="mean", sparse=False, _weight=None, include_last_offset=False, padding_idx=None, device=None,
                 dtype=None):
        super().__init__(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse, self.mode = scale_grad_by_freq, sparse, mode
        self.include_last_offset = include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        before = changed_options(self, (("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)))
        after = changed_options(self, (("padding_idx", None),))
        return f"{self.num_embeddings}, {self.embedding_dim}{before}, mode={self.mode!r}{after}"

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                        mode="mean", sparse=False, include_last_offset=False, padding_idx=None):
        """An EmbeddingBag over a given 2-D table, which does not train unless `freeze` is False."""
        check_table(embeddings)
        bag = cls(*embeddings.shape, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
                  include_last_offset, padding_idx)
        bag.weight.requires_grad = not freeze
        return bag


def changed_options(module, options):
    """", name=value" of each option that is not at its default."""
    values = ((name, getattr(module, name), default) for name, default in options)
    return "".join(f", {name}={value}" for name, value, default in values if value != default)


def check_table(embeddings):
    if embeddings.dim() != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")


def row_number(index, rows, name):
    """A row counted from the front. AssertionError out of range."""
    if index is None:
        return None
    if not -rows <= index < rows:
        raise AssertionError(f"{name} must be within num_embeddings")
    return index % rows
