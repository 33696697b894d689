"""Anomaly mode: where in the forward pass was the operator whose backward failed or gave NaN?

A subscriber of the observer: every new node is given the stack that made it; every node's gradients are looked at.
https://pytorch.org/docs/stable/autograd.html#anomaly-detection
"""
import traceback
import warnings

import numpy as np

from ..core import observer
from ..tensor import Tensor, array_of

_active = []                     # check_nan of each mode switched on, innermost last


def is_anomaly_enabled():
    """Whether anomaly mode is on."""
    return bool(_active)


def is_anomaly_check_nan_enabled():
    """Whether the innermost mode looks for NaN; True while none is on, as in PyTorch."""
    return _active[-1] if _active else True


def watch(topic, fields):
    """Remember the stack of new nodes; check what a node returned; explain a node that failed."""
    node = fields["node"]
    if topic == "node":
        node.metadata["traceback_"] = traceback.format_stack()[:-1]
    elif fields["phase"] == "failed":
        explain(node)
    elif fields["phase"] == "done" and _active[-1]:
        refuse_nan(node, fields["results"])


def explain(node):
    """Warn with the forward stack of a node."""
    stack = node.metadata.get("traceback_")
    if stack is None:
        warnings.warn(f"Error detected in {node.name()}. No forward pass information available. Enable detect anomaly "
                      "during forward pass for more information.", stacklevel=2)
    else:
        warnings.warn(f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
                      + "".join(stack), stacklevel=2)


def refuse_nan(node, results):
    for i, grad in enumerate(results):
        if isinstance(grad, Tensor) and grad.is_cpu and np.isnan(array_of(grad)).any():
            explain(node)
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {i}th output.")


def set_anomaly_enabled(enabled, check_nan=True):
    """Anomaly mode on or off from now on; `check_nan`: whether NaN gradients are errors. TypeError for no bools."""
    for argument, value in (("'enabled' (position 1)", enabled), ("'check_nan'", check_nan)):
        if not isinstance(value, bool):
            raise TypeError(f"set_anomaly_enabled(): argument {argument} must be bool, not {type(value).__name__}")
    switch([check_nan] if enabled else [])


class set_detect_anomaly:
    """Switch anomaly mode on or off, at once and for the `with` block if used as one."""

    def __init__(self, mode, check_nan=True):
        self._before = list(_active)
        switch([*_active, check_nan] if mode else [])

    def __enter__(self):
        return None

    def __exit__(self, *exc):
        switch(self._before)


def switch(active):
    was_on = bool(_active)
    _active[:] = active
    if active and not was_on:
        observer.subscribe(watch, "node", "backward")
    elif was_on and not active:
        observer.unsubscribe(watch)


class detect_anomaly:
    """Anomaly mode for the length of a block. `check_nan`: a NaN in a gradient is an error."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
                      "enabled for debugging.", stacklevel=2)

    def __enter__(self):
        self._before = list(_active)
        switch([*_active, self.check_nan])

    def __exit__(self, *exc):
        switch(self._before)
