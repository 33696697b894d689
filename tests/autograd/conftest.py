"""The tests of the engine run on teachtorch and, where it is installed, on PyTorch: they state PyTorch's facts."""
import importlib
import importlib.util

import pytest

LIBRARIES = ["teachtorch"] + (["torch"] if importlib.util.find_spec("torch") else [])


@pytest.fixture(params=LIBRARIES)
def torch(request):
    return importlib.import_module(request.param)
