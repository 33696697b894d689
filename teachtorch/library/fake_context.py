"""`get_ctx`: what a fake rule may ask while it runs: for a size that only the data decide.

    @nonzeros.register_fake
    def _(x):
        count = library.get_ctx().new_dynamic_size()
        return x.new_empty((count, x.dim()), dtype=torch.int64)

PyTorch has symbols for such sizes, teachtorch has none: asking for one ends the fake run, and whoever wanted it (a
FakeTensorMode, torch.compile) says that the size depends on data.
"""
import functools
import warnings
from contextvars import ContextVar

from ..dispatch.data_dependence import DataDependentSizeError

_running = ContextVar("the context of the fake rule that runs", default=None)


def get_ctx():
    """The FakeImplCtx of the fake rule that runs; None outside of one."""
    return _running.get()


class FakeImplCtx:
    """What a fake rule may ask."""

    def __init__(self, op):
        self._op = op

    def new_dynamic_size(self, *, min=0, max=None):
        """A size that only the data decide, at least `min`. ValueError for a negative `min`; else always
        NotImplementedError, which FakeTensorMode makes a DynamicOutputShapeException of."""
        if min < 0:
            raise ValueError(f"ctx.new_dynamic_size(min={min}, ...): expected min to be greater than or equal to 0: "
                             "this API can only create non-negative sizes.")
        raise DataDependentSizeError(
            f"{self._op.name}: You're trying to run this operator with meta Tensors (as opposed to FakeTensors), but "
            "this operator may return an output Tensor with data-dependent shape. Meta Tensors don't support operators "
            "with outputs that have data-dependent shapes but FakeTensors do. If your operator does not return an "
            "output with data-dependent shape, make sure the FakeTensor and/or meta kernel does not call "
            "torch.library.get_ctx(). Otherwise, please use FakeTensors.")

    def create_unbacked_symint(self, *, min=2, max=None):
        """The older name of new_dynamic_size."""
        warnings.warn("`create_unbacked_symint` is deprecated, please use `new_dynamic_size` instead", FutureWarning,
                      stacklevel=2)
        return self.new_dynamic_size(min=min, max=max)


def fake_kernel(op, function):
    """A fake rule that finds its context by get_ctx()."""
    @functools.wraps(function)
    def kernel(*args, **kwargs):
        token = _running.set(FakeImplCtx(op))
        try:
            return function(*args, **kwargs)
        finally:
            _running.reset(token)
    return kernel
