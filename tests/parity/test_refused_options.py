"""Optional arguments that do not fit, or stand in another place, against PyTorch."""
import pytest

from tests.parity.same_call import assert_same_error, assert_same_result

torch = pytest.importorskip("torch")

# x: 3 by 4, float32; i: int64; p: (6, 4, 5); s: 0-dim
REFUSED = [
    "torch.nn.functional.rms_norm(x, (3, 4), x[0])", "torch.nn.functional.rms_norm(x, (4,), x)",
    "torch.rms_norm(x, (4,), torch.ones(1))", "torch.repeat_interleave(x, 2, output_size=3)",
    "x.repeat_interleave(2, 0, output_size=5)", "torch.tril_indices(2, 2, dtype=torch.float32)",
    "torch.triu_indices(2, 2, dtype=torch.int16)", "torch.tril_indices(2, torch.tensor(2.0))",
    "torch.nn.functional.bilinear(x, x, torch.ones(2, 4, 4), torch.ones(2).long())",
    "torch.nn.functional.bilinear(x.double(), x, torch.ones(2, 4, 4))", "torch.logspace(1, 2, torch.tensor(3.0))",
    "torch.linspace(1, 2, True)", "torch.logspace(1, 2, 3, torch.ones(3))"]
TAKEN = [
    "torch.nn.functional.rms_norm(x, (4,), x[0])", "torch.repeat_interleave(x, 2, 0, output_size=6)",
    "torch.combinations(x[0], 0)", "torch.combinations(i[0], 0, True)", "torch.nuclear_norm(x, True)",
    "torch.nuclear_norm(p, True)", "torch.tril_indices(2, torch.tensor(3), dtype=torch.int32)",
    "torch.linspace(1, 2, torch.tensor(3))", "torch.logspace(1, 2, 3, torch.tensor(2.0))"]


@pytest.mark.parametrize("call", REFUSED)
def test_error_is_pytorchs(call):
    assert_same_error(torch, call)


@pytest.mark.parametrize("call", TAKEN)
def test_result_is_pytorchs(call):
    assert_same_result(torch, call)
