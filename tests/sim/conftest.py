"""Tests on the simulated device leave no thread, no error and no work behind."""

import pytest

from teachtorch.memory.runtime import runtime_of


@pytest.fixture(autouse=True)
def sim_at_rest():
    runtime = runtime_of("sim")
    yield runtime
    runtime.errors.clear()
    runtime.stop()
