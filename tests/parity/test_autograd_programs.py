"""Random programs: views, in-place changes, modes, hooks, backward in all its forms, the same in both libraries.

    AUTOGRAD_PROGRAMS=20000 pytest tests/parity/test_autograd_programs.py

runs that many (seeded) programs instead of a few hundred.
"""
import os
import random

import pytest

torch = pytest.importorskip("torch")

from hypothesis import HealthCheck, given, settings, strategies  # noqa: E402

import teachtorch  # noqa: E402
from tests.parity import autograd_programs as programs  # noqa: E402

PROGRAMS = int(os.environ.get("AUTOGRAD_PROGRAMS", "400"))
PARTS = 8
STEPS = 14


def disagreement(program):
    expected, found = programs.traces((torch, teachtorch), program)
    return programs.difference(expected, found)


def random_program(seed):
    choose = random.Random(seed).randrange
    return [programs.instruction(choose) for _ in range(STEPS)]


def shortest(program):
    """The program without the instructions that its disagreement does not need."""
    for i in reversed(range(len(program))):
        shorter = program[:i] + program[i + 1:]
        if disagreement(shorter):
            program = shorter
    return program


@pytest.mark.parametrize("part", range(PARTS))
def test_seeded_programs_agree(part):
    for seed in range(part, PROGRAMS, PARTS):
        program = random_program(seed)
        if disagreement(program):
            program = shortest(program)
            pytest.fail(f"program {seed}: {program}\n{disagreement(program)}")


@strategies.composite
def drawn_programs(draw):
    def choose(n):
        return draw(strategies.integers(0, n - 1))
    return [programs.instruction(choose) for _ in range(draw(strategies.integers(1, STEPS)))]


@settings(max_examples=max(PROGRAMS // 8, 10), deadline=None, database=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(drawn_programs())
def test_drawn_programs_agree(program):
    assert disagreement(program) is None, disagreement(program)
