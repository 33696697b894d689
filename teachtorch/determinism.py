"""Switches between quick and repeatable or exact kernels: torch.use_deterministic_algorithms and its kin.

They are kept and read back, and change nothing: there are no operators here whose results vary from run to run, and
products of float32 matrices are always computed in float32.
https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
"""
import os
import warnings

MODES = ("default", "warn", "error")
PRECISIONS = ("highest", "high", "medium")


class Switches:
    """What has been asked for, process-wide."""

    deterministic = False
    warn_only = False
    matmul_precision = "highest"
    interop_threads = os.cpu_count() or 1


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Ask for operators that give the same results in every run; `warn_only`: warn about others, not raise.

    TypeError if `mode` is no bool.
    """
    if not isinstance(mode, bool):
        raise TypeError("_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
                        + type(mode).__name__)
    Switches.deterministic, Switches.warn_only = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled():
    """Whether use_deterministic_algorithms is on."""
    return Switches.deterministic


def is_deterministic_algorithms_warn_only_enabled():
    """Whether use_deterministic_algorithms is on and would only warn."""
    return Switches.warn_only


def set_deterministic_debug_mode(debug_mode):
    """The same switch as a word or a number: "default" (0), "warn" (1) or "error" (2).

    TypeError, RuntimeError for anything else.
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in MODES:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                               + debug_mode)
        debug_mode = MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode():
    """0, 1 or 2, see set_deterministic_debug_mode."""
    return 0 if not Switches.deterministic else 1 if Switches.warn_only else 2


def set_float32_matmul_precision(precision):
    """Allow float32 matrix products of lower precision: "highest", "high" or "medium". A warning for others."""
    if precision not in PRECISIONS:
        warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
                      "setFloat32MatmulPrecision call has no effect.", UserWarning, stacklevel=2)
        return
    Switches.matmul_precision = precision


def get_float32_matmul_precision():
    """What set_float32_matmul_precision was given: "highest", "high" or "medium"."""
    return Switches.matmul_precision


def set_num_interop_threads(threads):
    """Noted and not used: operators of one thread of Python never run side by side here."""
    if threads < 1:
        raise RuntimeError("set_num_interop_threads: expected positive number of threads")
    Switches.interop_threads = threads


def get_num_interop_threads():
    """What set_num_interop_threads was given."""
    return Switches.interop_threads


def set_flush_denormal(mode):
    """False: denormal numbers are never flushed to zero here."""
    return False
