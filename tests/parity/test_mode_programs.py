"""`__torch_function__` and `__torch_dispatch__` of classes and modes do what they do in PyTorch."""
import re

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402
from tests.parity.mode_programs import PROGRAMS  # noqa: E402
from tests.parity.programs import assert_close, outcome  # noqa: E402

OTHER_WORDS = ("wrapper_of_a_negative_size",)               # PyTorch's speak of an overflow


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    wanted, found = [outcome(PROGRAMS[name], library) for library in (torch, teachtorch)]
    assert found[1] == wanted[1]
    if name in OTHER_WORDS:
        assert found[0][0] == wanted[0][0]
    else:
        assert_close(without_addresses(found[0]), without_addresses(wanted[0]), 1e-6)


def without_addresses(value):
    if isinstance(value, list):
        return [without_addresses(v) for v in value]
    return re.sub(r" at 0x\w+", "", value) if isinstance(value, str) else value
