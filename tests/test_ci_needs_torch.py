"""On CI the parity tests cannot be skipped by leaving PyTorch out."""

import importlib.util

import pytest

from tests import conftest


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def test_on_ci_a_missing_torch_stops_the_run(without_torch, monkeypatch):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.UsageError, match="torch is not installed"):
        conftest.pytest_configure()


def test_elsewhere_the_parity_tests_are_skipped(without_torch, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    assert conftest.pytest_configure() is None
