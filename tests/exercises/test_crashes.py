"""A hung or crashed answer is reported in the learner's terms, and everything else is still graded."""

import os
import uuid

import pytest

from exercises import catalog
from exercises.results import Job, Limits
from exercises.runner import grade
from tests.exercises.conftest import kinds, running

SUM = "return storage_offset + sum(i * s for i, s in zip(index, strides))"
HANG_SECONDS = 3.0


def test_infinite_python_loop(graded):
    result = graded(
        f"""
        SIGNATURE
            while index and min(index) < 0:
                pass
            {SUM}
        """,
        seconds=HANG_SECONDS,
    )
    assert kinds(result) == {
        "test_elements_not_bytes": "passed",
        "test_storage_offset": "passed",
        "test_any_strides": "passed",
        "test_negative_index": "timeout",
        "test_out_of_bounds": "wrong",
    }
    message = result.outcomes[3].message
    assert "stopped after 3 s" in message
    assert "at line 4: pass" in message or "at line 3: while" in message


def test_two_hangs_are_enough(tmp_path):
    """An exercise whose every test hangs costs two time limits; the next exercise is graded all the same."""
    stuck = tmp_path / "offset.py"
    stuck.write_text("def storage_position(*arguments):\n    while True:\n        pass\n")
    expand = catalog.find("expand")
    jobs = [Job(catalog.find("offset"), stuck), Job(expand, expand.solutions / "solution.py")]
    first, second = grade(jobs, Limits(seconds=1.0))
    assert list(kinds(first).values()) == ["timeout", "timeout", "not run", "not run", "not run"]
    assert "2 properties before it had to be stopped" in first.outcomes[2].message
    assert (first.problem, first.score) == ("", 0)
    assert second.passed


def test_infinite_compiled_loop(graded):
    """A compiled loop holds the interpreter's lock and hears no signal: only ending the process stops it."""
    pytest.importorskip("numba")
    result = graded(
        f"""
        import numba

        @numba.njit
        def spin(n):
            while n != 0:
                n ^= n << 13
                n ^= n >> 7
                n ^= n << 17
            return n

        SIGNATURE
            if index == (0, -1):
                return spin(1)
            {SUM}
        """,
        seconds=2 * HANG_SECONDS,
    )
    assert kinds(result)["test_negative_index"] == "timeout"
    assert "return spin(1)" in result.outcomes[3].message
    assert kinds(result)["test_elements_not_bytes"] == "passed"
    assert kinds(result)["test_out_of_bounds"] == "wrong"


def test_hang_while_importing(graded):
    result = graded("while True:\n    pass\n", seconds=1.0)
    assert result.problem == "timeout"
    assert "line 2: pass" in result.message or "line 1: while" in result.message
    assert result.score == 0


def test_segmentation_fault(graded):
    result = graded(
        f"""
        import ctypes

        SIGNATURE
            if index == (0, 0):
                ctypes.string_at(0)
            {SUM}
        """
    )
    assert kinds(result)["test_elements_not_bytes"] == "passed"
    assert kinds(result)["test_storage_offset"] == "crashed"
    assert kinds(result)["test_out_of_bounds"] == "wrong"
    assert "ended the Python process" in result.outcomes[1].message
    assert "ctypes.string_at(0)" in result.outcomes[1].message


def test_exit_of_the_process(graded):
    result = graded(
        f"""
        import os

        SIGNATURE
            if index == (0, 0):
                os._exit(0)
            {SUM}
        """
    )
    assert kinds(result)["test_storage_offset"] == "crashed"
    assert "exit code 0" in result.outcomes[1].message
    assert kinds(result)["test_elements_not_bytes"] == "passed"
    assert kinds(result)["test_out_of_bounds"] == "wrong"


def test_exit_while_importing(graded):
    result = graded("import os\nos._exit(0)\n")
    assert (result.problem, result.score, result.passed) == ("crashed", 0, False)


def test_exit_after_the_last_test(graded):
    """What ends the process when the answer is thrown away is no answer to the next exercise."""
    result = graded(
        """
        import os

        class Last:
            def __del__(self, leave=os._exit):
                leave(0)

        last = Last()

        SIGNATURE
            if any(not -n <= i < n for i, n in zip(index, sizes)):
                raise IndexError
            return storage_offset + sum(i % n * s for i, n, s in zip(index, sizes, strides))
        """
    )
    assert result.passed


def test_sys_exit_is_an_ordinary_failure(graded):
    result = graded("import sys\nSIGNATURE\n    sys.exit(0)\n")
    assert set(kinds(result).values()) == {"raised"}
    assert "sys.exit(0)" in result.outcomes[0].message


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "BaseException", "GeneratorExit", "SystemError"])
def test_any_exception_is_an_ordinary_failure(graded, error):
    result = graded(f"SIGNATURE\n    raise {error}\n")
    assert set(kinds(result).values()) == {"raised"}
    assert f"raise {error}" in result.outcomes[0].message


def test_endless_recursion(graded):
    result = graded("SIGNATURE\n    return storage_position(index, sizes, strides, storage_offset)\n")
    assert set(kinds(result).values()) == {"raised"}
    assert "called itself too often" in result.outcomes[0].message


def test_syntax_error(graded):
    result = graded("SIGNATURE\n    return (1 +\n")
    assert result.problem == "syntax"
    assert "line 2" in result.message
    assert "^" in result.message


def test_import_error(graded):
    result = graded("import a_module_that_is_not_there\n")
    assert result.problem == "import"
    assert "No module named 'a_module_that_is_not_there'" in result.message
    assert "line 1" in result.message


def test_file_that_is_no_text(tmp_path):
    file = tmp_path / "offset.py"
    file.write_bytes(b"x = 1\n\xff\xfe\x00\n")
    (result,) = grade([Job(catalog.find("offset"), file)])
    assert result.problem == "syntax"
    assert "Python cannot read your file" in result.message


def test_message_with_a_lone_surrogate(graded):
    result = graded("SIGNATURE\n    raise ValueError('\\ud800')\n")
    assert set(kinds(result).values()) == {"raised"}


def test_missing_function(graded):
    result = graded("def another_name():\n    pass\n")
    assert set(kinds(result).values()) == {"missing"}
    assert "no `storage_position`" in result.outcomes[0].message


def test_wrong_number_of_parameters(graded):
    result = graded("def storage_position(index):\n    return 0\n")
    assert set(kinds(result).values()) == {"raised"}
    assert "takes 1 positional argument" in result.outcomes[0].message


def test_endless_printing(graded):
    result = graded(
        f"""
        SIGNATURE
            while index == (0, 0):
                print("x" * 1000)
            {SUM}
        """,
        seconds=60.0,
        output_bytes=200_000,
    )
    assert kinds(result)["test_storage_offset"] == "output"
    assert "printed more than" in result.outcomes[1].message
    assert kinds(result)["test_elements_not_bytes"] == "passed"
    assert len(result.outcomes[1].printed) < 10_000


def test_printed_text_belongs_to_its_test(graded):
    result = graded(f"print('importing')\nSIGNATURE\n    print('asked for', index)\n    {SUM}\n")
    assert result.printed == "importing\n"
    assert result.outcomes[0].printed == "asked for (1, 2)\n"
    assert result.outcomes[3].printed == "asked for (0, -1)\n"


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no limit on the address space here")
def test_memory_bomb(graded):
    result = graded(
        f"""
        SIGNATURE
            hoard = []
            while index == (0, 0):
                hoard.append(bytearray(1 << 28))
            {SUM}
        """,
        seconds=60.0,
        memory_bytes=1 << 29,
    )
    assert kinds(result)["test_storage_offset"] == "memory"
    assert "more memory than the 512 MB" in result.outcomes[1].message
    assert kinds(result)["test_elements_not_bytes"] == "passed"
    assert kinds(result)["test_out_of_bounds"] == "wrong"


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_started_processes_end_with_the_grader(graded, monkeypatch):
    mark = f"LEFT_BEHIND={uuid.uuid4()}"
    monkeypatch.setenv(*mark.split("="))
    graded(
        f"""
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

        SIGNATURE
            {SUM}
        """
    )
    assert running(mark) == []


def test_flood_of_forged_events(graded):
    result = graded(
        f"""
        import os

        SIGNATURE
            while index == (0, 0):
                for descriptor in range(3, 32):
                    try:
                        os.write(descriptor, b"{{}}\\n" * 1000)
                    except OSError:
                        continue
            {SUM}
        """,
        seconds=HANG_SECONDS,
    )
    assert kinds(result)["test_storage_offset"] == "timeout"
    assert kinds(result)["test_elements_not_bytes"] == "passed"
    assert kinds(result)["test_out_of_bounds"] == "wrong"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_fork(graded):
    result = graded("import os\nif os.fork():\n    os._exit(0)\nSIGNATURE\n    return 0\n")
    assert not result.passed
    assert result.score == 0


def test_thread_that_never_ends(graded):
    result = graded(
        f"""
        import threading
        threading.Thread(target=lambda: threading.Event().wait()).start()

        SIGNATURE
            {SUM}
        """
    )
    assert kinds(result)["test_elements_not_bytes"] == "passed"


@pytest.mark.parametrize("switch", ["autograd.set_grad_enabled(False)", "set_default_dtype(torch.float64)"])
def test_switch_left_on(tmp_path, switch):
    """What one answer leaves behind in teachtorch does not reach the next exercise."""
    solved = catalog.find("repair_listing")
    first = tmp_path / "repair_listing.py"
    first.write_text(
        f"{(solved.solutions / 'solution.py').read_text()}\n\ntorch.{switch}\n", encoding="utf-8"
    )
    safe = catalog.find("safe_update")
    jobs = [Job(solved, first), Job(safe, safe.solutions / "solution.py")]
    result = grade(jobs, Limits(seconds=30))[1]
    assert result.passed, result


def test_saving_while_it_is_graded(tmp_path):
    """What is graded, and what a message quotes, is the file as it was when the grading began."""
    ours = tmp_path / "expand.py"
    ours.write_text("def expand(*arguments):\n    return 'the first version'\n")
    other = catalog.find("offset")
    jobs = [Job(other, other.solutions / "solution.py"), Job(catalog.find("expand"), ours)]

    def save(exercise, title):
        ours.write_text("def expand(*arguments):\n    return 'the second version'\n")

    result = grade(jobs, Limits(seconds=30), progress=save)[1]
    assert "the first version" in result.outcomes[0].message
    assert "the second version" not in str(result)


def test_saving_before_the_child_starts_again(tmp_path):
    """A process that is started for the rest of the tests reads the same text as the one before it."""
    ours = tmp_path / "offset.py"
    text = "import os\ndef storage_position(*arguments):\n    os._exit({})\n"
    ours.write_text(text.format(3))

    def save(exercise, title):
        ours.write_text("\n" + text.format(4))

    (result,) = grade([Job(catalog.find("offset"), ours, guarded=False)], Limits(seconds=30), progress=save)
    assert {each.kind for each in result.outcomes} == {"crashed"}
    assert {each.message.split("(")[1] for each in result.outcomes} == {"exit code 3)"}


def test_default_limits_are_short_enough_to_wait_for():
    assert Limits().seconds <= 10


def test_what_the_test_cannot_use_is_not_said_to_be_raised_by_the_answer(graded):
    answer = "def load_what_fits(model, state):\n    return None\n"
    result = graded(answer, name="load_what_fits")
    outcome = next(each for each in result.outcomes if each.property.name == "test_parameters")
    assert outcome.kind == "raised"
    assert "the test could not go on with what your code gave it: TypeError: cannot unpack" in outcome.message
    assert "of the test: loaded, left, unexpected = yours.load_what_fits(model, state)" in outcome.message
    assert "your code raised" not in outcome.message
