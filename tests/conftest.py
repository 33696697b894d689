"""What all tests share: on CI the reference, PyTorch, must be there."""

import importlib.util
import os

import pytest


def pytest_configure():
    """Refuse to start on CI without PyTorch: every parity test would quietly be skipped."""
    if os.environ.get("CI") == "true" and importlib.util.find_spec("torch") is None:
        raise pytest.UsageError(
            "CI=true, but torch is not installed: the parity tests must not be skipped here. "
            "Install the `torch` extra: pip install -e '.[torch]'"
        )
