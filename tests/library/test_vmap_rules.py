"""register_vmap: an operator's own rule for a batch."""
import pytest

import teachtorch as torch
from teachtorch import library


@library.custom_op("vmap_rules::both", mutates_args=())
def both(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x + y, x * y


def test_a_vmap_rule_gets_the_whole_batch():
    seen = []

    @both.register_vmap
    def rule(info, in_dims, x, y):
        seen.append((info.batch_size, info.randomness, in_dims, x.shape))
        x, y = (t.expand(info.batch_size, *t.shape) if dim is None else t.movedim(dim, 0)
                for t, dim in zip((x, y), in_dims))
        total, product = both(x.clone(), y.clone())
        return (total, product.t()), (0, 1)
    x, y = torch.arange(6.0).view(2, 3), torch.tensor([1.0, 2.0])
    total, product = torch.vmap(both, in_dims=(1, None), out_dims=(1, 0))(x, y)
    assert seen == [(3, "error", (1, None), (2, 3))]
    assert torch.equal(total, x + y[:, None]) and torch.equal(product, (x * y[:, None]).t())
    # within a function, example by example
    inside = torch.vmap(lambda x: both(x, y)[0], in_dims=1)(x)
    assert torch.equal(inside, (x + y[:, None]).t()) and len(seen) == 1


def test_a_result_that_the_rule_did_not_batch_is_every_examples():
    op = library.custom_op("vmap_rules::constant", lambda x: x.new_ones(2), mutates_args=(),
                           schema="(Tensor x) -> Tensor")
    library.register_vmap("vmap_rules::constant", lambda info, in_dims, x: (torch.tensor([5.0, 6.0]), None))
    assert torch.vmap(op)(torch.ones(3, 4)).tolist() == [[5, 6]] * 3
    library.register_vmap(op, lambda info, in_dims, x: x)
    with pytest.raises(RuntimeError, match="Expected the vmap staticmethod to have two returns, an output "
                                           "and out_dims"):
        torch.vmap(op)(torch.ones(3, 4))
