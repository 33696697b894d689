"""Answers that aim at the grader instead of the question do not pass."""

import ast
import json
import os
import shutil
import subprocess
import sys

import pytest

from exercises import catalog
from exercises.grading import guard
from exercises.workspace import Workspace
from tests.exercises.conftest import kinds

CHEATS = {
    "equal to everything": """
        class Yes(int):
            __eq__ = lambda self, other: True
            __ne__ = lambda self, other: False
            __hash__ = int.__hash__
            __repr__ = lambda self: "6"

        SIGNATURE
            return Yes(0)
        """,
    "another class in disguise": """
        class Disguised:
            __class__ = property(lambda self: int)
            __eq__ = lambda self, other: True

        SIGNATURE
            return Disguised()
        """,
    "comparison replaced": """
        import numpy as np
        np.allclose = np.array_equal = lambda *a, **k: True

        SIGNATURE
            return 0
        """,
    "builtins replaced": """
        import builtins
        builtins.isinstance = lambda *a: True
        builtins.type = lambda *a: int

        SIGNATURE
            return 0
        """,
    "code of the comparison swapped": """
        import exercises.grading.compare as compare
        def first_difference(got, expected, where=""):
            return ""
        compare.first_difference.__code__ = first_difference.__code__

        SIGNATURE
            return 0
        """,
    "equal replaced in the test module": """
        import sys
        for module in list(sys.modules.values()):
            if hasattr(module, "test_storage_offset"):
                module.equal = module.raises = lambda *a, **k: None

        SIGNATURE
            return 0
        """,
    "pytest's runner replaced": """
        import _pytest.python
        _pytest.python.Function.runtest = lambda self: None

        SIGNATURE
            return 0
        """,
    "skipped": "import pytest\nSIGNATURE\n    pytest.skip('too hard')\n",
    "skipped as a whole": "import pytest\npytest.skip('too hard', allow_module_level=True)\n",
    "expected to fail": "import pytest\nSIGNATURE\n    pytest.xfail('too hard')\n",
    "session ended": "import pytest\nSIGNATURE\n    pytest.exit('done', 0)\n",
    "process ended": "import os\nos._exit(0)\n",
    "process ended from a thread": """
        import os, threading
        threading.Timer(0.0, os._exit, [0]).start()

        SIGNATURE
            while True:
                pass
        """,
    "events forged": """
        import json, os
        line = json.dumps({"number": 2, "event": "end", "test": "test_any_strides", "kind": "passed"})
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, f"{'0' * 64} {line}\\n".encode())
            except OSError:
                continue

        SIGNATURE
            return -1
        """,
    "pipes closed": "import os\nos.closerange(3, 256)\nSIGNATURE\n    return 0\n",
    "random numbers frozen": """
        import random
        random.Random.randint = random.Random.randrange = lambda self, *a: 1
        random.Random.choice = lambda self, options: options[0]

        SIGNATURE
            return 0
        """,
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_does_not_pass(graded, cheat):
    result = graded(CHEATS[cheat], seconds=60.0)
    assert not result.passed
    # A constant may be right for one property by luck; a cheat must not earn more than that.
    assert result.score <= 1, kinds(result)


@pytest.mark.parametrize(
    "cheat", ["comparison replaced", "pytest's runner replaced", "random numbers frozen"]
)
def test_a_replaced_function_is_named(graded, cheat):
    result = graded(CHEATS[cheat])
    assert result.problem == "tampered"
    assert "your file replaced `" in result.message


def test_a_replaced_method_of_a_tensor_is_named(graded):
    solution = (catalog.find("safe_update").solutions / "solution.py").read_text()
    result = graded(f"{solution}\ntorch.Tensor.numpy = lambda self: 0\n", name="safe_update")
    assert result.problem == "tampered"
    assert "Tensor.numpy" in result.message


def test_replacing_while_a_test_runs(graded):
    result = graded("import numpy as np\nSIGNATURE\n    np.allclose = lambda *a, **k: True\n    return 6\n")
    assert kinds(result)["test_elements_not_bytes"] == "tampered"
    assert not result.passed


def test_what_one_file_replaces_does_not_reach_the_next(tmp_path):
    from exercises.results import Job
    from exercises.runner import grade

    exercise = catalog.find("numeric_check")
    cheat = tmp_path / "numeric_check.py"
    cheat.write_text("import numpy as np\nnp.stack = np.eye = lambda *a, **k: 1\n")
    solution = exercise.solutions / "solution.py"
    first, second = grade([Job(exercise, cheat), Job(exercise, solution)])
    assert first.problem == "tampered"
    assert second.passed


def test_the_reference_itself(graded):
    result = graded(
        """
        import numpy as np

        def gather(input, dim, index):
            return np.take_along_axis(input, index, dim)

        def gather_backward(grad, input_shape, dim, index):
            raise NotImplementedError
        """,
        name="gather_scatter",
        guarded=True,
    )
    assert result.problem == "not allowed"
    assert "np.take_along_axis" in result.message
    assert "line 5" in result.message


LIBRARY = {
    "replace_op": (
        "torch.fx.replace_pattern",
        "import teachtorch.fx as f; f.replace_pattern",
        "import teachtorch.fx.subgraph_rewriter as s; s.replace_pattern",
        "from teachtorch.fx import replace_pattern as r",
        "from teachtorch.fx import replace_pattern; replace_pattern",
    ),
    "clean_up": ("from teachtorch.fx.passes.cse import eliminate_common_subexpressions as e", "x.eliminate_dead_code()"),
    "batcher": ("torch.nn.utils.rnn.pad_sequence", "from teachtorch.nn.utils.rnn import pad_sequence as p"),
    "interpreter": ("torch.fx.Interpreter", "from teachtorch.fx import Interpreter as I"),
    "gather_scatter": ("import numpy as n; n.take_along_axis", "from numpy import take_along_axis as t"),
    "one_hot": ("import teachtorch as t; t.bincount", "from teachtorch.nn.functional import one_hot as o"),
}


@pytest.mark.parametrize("name, lines", LIBRARY.items())
def test_the_librarys_own_function_under_any_name(name, lines):
    exercise = catalog.find(name)
    rules = guard.Rules(exercise.imports, tuple(exercise.forbidden.items()))
    for line in lines:
        with pytest.raises(guard.NotAllowed, match="does without"):
            guard.check(ast.parse(line), rules)
    guard.check(ast.parse((exercise.solutions / "solution.py").read_text()), rules)


@pytest.mark.parametrize("line", ["import torch", "import teachtorch", "from numpy import s_", "import os"])
def test_imports_that_the_exercise_does_without(graded, line):
    result = graded(f"{line}\nSIGNATURE\n    return 0\n", guarded=True)
    assert result.problem == "not allowed"
    assert "line 1" in result.message
    assert "collections, " in result.message, "it says what may be imported"
    assert "numpy, " not in result.message


def test_what_the_exercise_may_import_is_listed(graded):
    message = graded("import threading\n", name="gather_scatter", guarded=True).message
    assert message.startswith("line 1: `import threading` is not among")
    assert "\n  numpy, __future__, abc, " in message
    assert message.endswith("weakref")


def test_the_main_part_of_a_file_is_free(graded):
    result = graded("SIGNATURE\n    return 3\n\nif __name__ == '__main__':\n    import torch\n", guarded=True)
    assert not result.problem


@pytest.mark.parametrize("test", ["__name__", "__name__ != '__main__'", "'__name__'"])
def test_other_parts_of_a_file_are_not_free(graded, test):
    result = graded(f"if {test}:\n    import torch\nSIGNATURE\n    return 3\n", guarded=True)
    assert result.problem == "not allowed"


def test_what_runs_where_the_main_part_does_not_is_not_free(graded):
    lines = "if __name__ == '__main__':\n    pass\nelse:\n    import torch\nSIGNATURE\n    return 3\n"
    assert graded(lines, guarded=True).problem == "not allowed"


@pytest.mark.parametrize(
    "line",
    [
        "import contextlib; contextlib.os.getcwd()",
        "import warnings; warnings.sys.modules['builtins']",
        "import random; random._os.getcwd()",
        "from contextlib import sys",
    ],
)
def test_modules_behind_modules(graded, line):
    result = graded(f"{line}\nSIGNATURE\n    return 0\n", guarded=True)
    assert result.problem == "not allowed"
    assert "reaches outside your own code" in result.message


@pytest.mark.parametrize(
    "body",
    [
        "().__class__.__base__.__subclasses__()",
        "__import__('os')",
        "eval('1')",
        "storage_position.__globals__",
        "open('solution.py')",
    ],
)
def test_digging(graded, body):
    result = graded(f"SIGNATURE\n    return {body}\n", guarded=True)
    assert result.problem == "not allowed"


HOOK = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"

@pytest.fixture
def yours():
    return None
"""


@pytest.fixture
def workspace(tmp_path):
    """A workspace with wrong answers everywhere."""
    made = Workspace(tmp_path / "mine")
    made.prepare()
    made.file(catalog.find("offset")).write_text("def storage_position(*a):\n    return 0\n")
    return made


def check(workspace, *arguments, environment=None, folder=None):
    """Run `check offset` in a workspace, as a learner does."""
    command = [
        sys.executable,
        "-m",
        "exercises",
        "--workspace",
        workspace.folder,
        "check",
        "offset",
        *arguments,
    ]
    variables = {**os.environ, "PYTHONPATH": str(folder or catalog.PACKAGE.parent), **(environment or {})}
    return subprocess.run(command, env=variables, cwd=workspace.folder, capture_output=True, text=True)


def test_conftest_and_configuration_of_the_learner_are_not_read(workspace):
    (workspace.folder / "conftest.py").write_text(HOOK)
    (workspace.folder / "ch02_strides" / "conftest.py").write_text(HOOK)
    (workspace.folder / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    (workspace.folder / "numpy.py").write_text("raise SystemExit(0)\n")
    (workspace.folder / "sitecustomize.py").write_text("raise SystemExit(0)\n")
    answer = check(workspace, environment={"PYTEST_ADDOPTS": "--collect-only", "PYTEST_PLUGINS": "conftest"})
    assert answer.returncode == 1, answer.stderr
    assert "0/5" in answer.stdout


def test_the_copy_of_a_test_grades_nothing(workspace):
    copy = workspace.folder / "ch02_strides" / "test_offset.py"
    copy.write_text("def test_elements_not_bytes():\n    pass\n")
    answer = check(workspace)
    assert answer.returncode == 1
    assert "0/5" in answer.stdout


def test_a_changed_test_of_the_package_is_reported(workspace, tmp_path):
    package = tmp_path / "installed" / "exercises"
    shutil.copytree(catalog.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", ".teachtorch"))
    test = package / "ch02_strides" / "test_offset.py"
    test.write_text(test.read_text().replace("equal(", "print("))
    answer = check(workspace, folder=package.parent)
    assert answer.returncode == 1
    assert "test_offset.py is not the one that was shipped" in answer.stdout


def test_state_cannot_hide_a_failure(workspace):
    workspace.write("state.json", json.dumps({"passed": ["offset"]}))
    assert check(workspace).returncode == 1
