"""Wrong uses of torch.library are refused as PyTorch refuses them, and odd ones do what they do there."""
import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from tests.parity.hostile_operators import OTHER_WORDS, PROGRAMS, core  # noqa: E402
from tests.parity.programs import assert_close, outcome  # noqa: E402

# Kinds of RuntimeError.
RUNTIME_ERRORS = ("NotImplementedError", "DataDependentSizeError", "UnsupportedOperatorException")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    wanted, found = [outcome(PROGRAMS[name], library)[0] for library in (torch, teachtorch)]
    if is_error(wanted):
        assert is_error(found), f"{found} instead of {wanted}"
        assert found[0] == wanted[0] or found[0] in RUNTIME_ERRORS and wanted[0] == "RuntimeError"
        assert name in OTHER_WORDS or core(found[1]) == core(wanted[1])
    else:
        assert_close(found, wanted, 1e-6)


def is_error(result):
    return isinstance(result, list) and len(result) == 2 and str(result[0]).endswith(("Error", "Exception"))
