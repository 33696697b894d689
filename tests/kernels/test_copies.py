"""Copies of rows by vectors: every length, and nothing written outside."""

import functools

import numpy as np
import pytest

from teachtorch.kernels import tiles
from teachtorch.kernels.cache import load_module
from teachtorch.kernels.copies import row_copies, row_turns

COUNTS = [*range(21), 31, 32, 33, 50]
ROWS = 8


@functools.cache
def loops():
    _, vectors, lanes = tiles.shape(4)
    text = tiles.header(ROWS, vectors, lanes) + row_copies(lanes) + row_turns(lanes, ROWS)
    return load_module("copies", text)


def numbers(size):
    return np.arange(1, size + 1, dtype=np.float32)


@pytest.mark.parametrize("count", COUNTS)
def test_a_copy_has_the_row_and_nothing_else(count):
    source, found, expected = numbers(60), np.zeros(60, np.float32), np.zeros(60, np.float32)
    loops().copy(source, 3, found, 5, count)
    expected[5 : 5 + count] = source[3 : 3 + count]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", COUNTS)
def test_every_second_element(count):
    source, found, expected = numbers(110), np.zeros(60, np.float32), np.zeros(60, np.float32)
    loops().halve(source, 3, found, 5, count)
    expected[5 : 5 + count] = source[3:][::2][:count]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", COUNTS)
def test_steps_on_both_sides(count):
    source, found, expected = numbers(160), np.zeros(110, np.float32), np.zeros(110, np.float32)
    loops().spread(source, 3, 3, found, 5, 2, count)
    expected[5:][::2][:count] = source[3:][::3][:count]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("step", [ROWS, ROWS + 3])
@pytest.mark.parametrize("count", COUNTS)
def test_rows_become_columns(count, step):
    source = numbers(ROWS * 60).reshape(ROWS, 60)
    found, expected = np.zeros((51, step), np.float32), np.zeros((51, step), np.float32)
    loops().turn(source.reshape(-1), 3, 60, found.reshape(-1), 2, step, count)
    places = 2 + np.arange(count)[:, None] * step + np.arange(ROWS)
    expected.reshape(-1)[places] = source[:, 3 : 3 + count].T
    np.testing.assert_array_equal(found, expected)
