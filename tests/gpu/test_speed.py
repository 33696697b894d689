"""What the device promises of its speed, on a real GPU: the figures of measure.py against their bounds.

Skipped where there is no GPU. Not run so far: no machine with one was there when this was written.
"""

import os

import pytest

import teachtorch as torch

from . import measure

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        os.environ.get("NUMBA_ENABLE_CUDASIM") == "1" or not torch.cuda.is_available(), reason="no GPU"
    ),
]


def test_a_pointwise_kernel_reaches_most_of_the_copys_bandwidth():
    found = measure.bandwidth()
    assert found["pointwise GB/s"] >= 0.85 * found["copy GB/s"], found


def test_a_launch_costs_the_host_at_most_20_microseconds():
    found = measure.launch_cost()
    assert found["host us per launch"] <= 20, found


def test_the_first_iteration_asks_the_device_for_memory_and_later_ones_do_not():
    (rows,) = measure.iterations().values()
    asked = [row["asked the device"] for row in rows]
    assert asked[0] > 0 and asked[2:] == [0] * len(asked[2:]), rows
    assert rows[0]["ms"] > max(row["ms"] for row in rows[2:]), rows


def test_tiles_are_quicker_than_single_threads():
    found = measure.products(1024)
    assert found["tiled TFLOP/s"] > found["naive TFLOP/s"], found
