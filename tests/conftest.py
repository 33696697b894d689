"""What all tests share: on CI the reference, PyTorch, must be there."""

import importlib.util
import os
import signal

import pytest


def pytest_configure():
    """Let children be interrupted, and refuse to start on CI without PyTorch, which would skip every parity test."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:      # started in the background: children would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.environ.get("CI") == "true" and importlib.util.find_spec("torch") is None:
        raise pytest.UsageError(
            "CI=true, but torch is not installed: the parity tests must not be skipped here. "
            "Install the `torch` extra: pip install -e '.[torch]'"
        )
