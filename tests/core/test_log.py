"""TEACHTORCH_LOG: what the environment variable asks for at import."""
import os
import subprocess
import sys


def imported_with(topics, code="pass"):
    return subprocess.run([sys.executable, "-c", f"import teachtorch\n{code}"], capture_output=True, text=True,
                          env={**os.environ, "TEACHTORCH_LOG": topics}, stdin=subprocess.DEVNULL)


def test_an_unknown_topic_is_one_line_that_names_the_known_ones():
    done = imported_with("nonsense")
    assert done.returncode == 0
    assert done.stderr == "TEACHTORCH_LOG: unknown topic nonsense; known are dispatch, autograd, memory, compile\n"


def test_the_known_topics_beside_it_are_heard():
    done = imported_with("nonsense,dispatch", "teachtorch.ones(2) + 1")
    first, *rest = done.stderr.splitlines()
    assert "unknown topic nonsense;" in first and any(line.startswith("[dispatch] add") for line in rest)
