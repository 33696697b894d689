"""The layout of numbers in a printed tensor, from the rules of PyTorch's documentation."""
import ml_dtypes
import numpy as np
import pytest

from teachtorch.printing import PrintOptions, format_values


def text(values, dtype=np.float32, indent=0, **options):
    return format_values(np.array(values, dtype), PrintOptions(**options), indent)


# One number

def test_whole_floats_print_with_a_bare_point():
    assert text([1.0, -20.0]) == "[  1., -20.]"


def test_other_floats_print_with_four_digits():
    assert text([1.5, 20.0]) == "[ 1.5000, 20.0000]"


def test_precision_sets_the_digits():
    assert text([1.23456], precision=2) == "[1.23]"


@pytest.mark.parametrize("values, expected", [
    ([1000.0, 1.0], "[1000.,    1.]"),
    ([1001.0, 1.0], "[1.0010e+03, 1.0000e+00]"),
    ([1e8], "[100000000.]"),
    ([2e8], "[2.0000e+08]"),
    ([1.5e-4], "[0.0001]"),
    ([9e-5], "[9.0000e-05]"),
    ([0.0, 1e3, 1.0], "[   0., 1000.,    1.]"),
])
def test_the_ratio_and_the_size_of_the_magnitudes_call_for_scientific_notation(values, expected):
    assert text(values, np.float64) == expected


def test_sci_mode_overrules_the_values():
    assert text([1.5], sci_mode=True) == "[1.5000e+00]"
    assert text([1e-6], sci_mode=False) == "[0.0000]"


def test_infinities_and_nan_do_not_count_for_the_format():
    assert text([1.0, np.nan, np.inf, -np.inf]) == "[1., nan, inf, -inf]"
    assert text([0.5, np.nan, -np.inf]) == "[0.5000,    nan,   -inf]"
    assert text([np.nan]) == "[nan]"


def test_zeros_alone_are_whole():
    assert text([0.0, -0.0]) == "[0., -0.]"


def test_integers_are_aligned_to_the_widest():
    assert text([[1, -20], [300, 4]], np.int64) == "[[  1, -20],\n [300,   4]]"


def test_bools_are_aligned():
    assert text([True, False], bool) == "[ True, False]"


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_floats_of_every_width_follow_the_same_rules(dtype):
    assert text([0.5, 2.0], dtype) == "[0.5000, 2.0000]"


# Brackets

def test_a_zero_dimensional_array_has_no_brackets():
    assert text(3, np.int64) == "3"
    assert text(3.0) == "3."


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_an_empty_array_is_an_empty_pair_of_brackets(shape):
    assert text(np.zeros(shape)) == "[]"


def test_matrices_are_separated_by_a_blank_line():
    assert text(np.arange(4).reshape(2, 1, 2), np.int64) == "[[[0, 1]],\n\n [[2, 3]]]"


def test_following_lines_align_with_the_indent():
    assert text([[1], [2]], np.int64, indent=7) == "[[1],\n        [2]]"


def test_a_long_line_is_wrapped_at_the_line_width():
    assert text(range(10), np.int64, linewidth=12) == "[0, 1, 2, 3,\n 4, 5, 6, 7,\n 8, 9]"


def test_one_element_per_line_is_the_least():
    assert text([1, 2], np.int64, linewidth=1) == "[1,\n 2]"


# Summaries

def test_more_than_threshold_elements_are_summarised():
    assert text(range(1000), np.int64).count(",") == 999
    assert text(range(1001), np.int64) == "[   0,    1,    2,  ...,  998,  999, 1000]"


def test_every_long_dimension_is_summarised():
    expected = "[[0, 0,  ..., 0, 0],\n [0, 0,  ..., 0, 0],\n ...,\n [0, 0,  ..., 0, 0],\n [0, 0,  ..., 0, 0]]"
    assert text(np.zeros((5, 5)), np.int64, threshold=10, edgeitems=2) == expected


def test_a_short_dimension_stays_whole_in_a_summary():
    lines = text(np.zeros((2, 600)), np.int64).split("\n")
    assert lines == ["[[0, 0, 0,  ..., 0, 0, 0],", " [0, 0, 0,  ..., 0, 0, 0]]"]


def test_what_a_summary_leaves_out_does_not_count_for_the_format():
    values = np.zeros(2000)
    values[1000] = 0.123
    assert text(values) == "[0., 0., 0.,  ..., 0., 0., 0.]"


def test_no_edge_items_leave_only_dots():
    assert text(np.zeros(5), threshold=2, edgeitems=0) == "[...]"
    assert text(np.zeros((5, 5)), threshold=2, edgeitems=0) == "[...]"
