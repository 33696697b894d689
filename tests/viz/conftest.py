"""Both engines: every fact about a picture must hold for teachtorch and for PyTorch."""

import pytest


@pytest.fixture(params=["teachtorch", "torch"])
def lib(request):
    return pytest.importorskip(request.param)
