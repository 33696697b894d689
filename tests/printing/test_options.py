"""set_printoptions, get_printoptions and printoptions."""
import math

import numpy as np
import pytest

from teachtorch.printing import format_values, get_printoptions, printoptions, set_printoptions

DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}


@pytest.fixture(autouse=True)
def default_options():
    set_printoptions(profile="default")
    yield
    set_printoptions(profile="default")


def test_the_defaults_are_pytorchs():
    assert get_printoptions() == DEFAULTS


def test_an_option_stays_until_it_is_changed():
    set_printoptions(precision=2)
    set_printoptions(linewidth=40)
    assert get_printoptions() == {**DEFAULTS, "precision": 2, "linewidth": 40}


def test_a_call_without_sci_mode_resets_it():
    set_printoptions(sci_mode=True)
    assert get_printoptions()["sci_mode"] is True
    set_printoptions(precision=3)
    assert get_printoptions()["sci_mode"] is None


@pytest.mark.parametrize("profile, expected", [
    ("default", {}), ("short", {"precision": 2, "edgeitems": 2}), ("full", {"threshold": math.inf})])
def test_profiles(profile, expected):
    set_printoptions(precision=7, linewidth=33, threshold=1, edgeitems=9)
    set_printoptions(profile=profile)
    assert get_printoptions() == {**DEFAULTS, **expected}


def test_an_option_beside_a_profile_wins():
    set_printoptions(profile="short", precision=6)
    assert get_printoptions() == {**DEFAULTS, "precision": 6, "edgeitems": 2}


def test_printoptions_hold_inside_the_block_only():
    with pytest.raises(KeyError), printoptions(precision=1, sci_mode=True):
        assert format_values(np.array([1.25])) == "[1.2e+00]"
        raise KeyError
    assert get_printoptions() == DEFAULTS


def test_what_get_printoptions_gives_can_be_set_again():
    set_printoptions(precision=1, threshold=5, edgeitems=2, linewidth=50, sci_mode=False)
    saved = get_printoptions()
    set_printoptions(profile="default")
    set_printoptions(**saved)
    assert get_printoptions() == saved
