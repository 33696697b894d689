"""`PassManager`: runs passes in a row, until nothing changes any more, and keeps the graph before and after each."""
import copy
import functools
from dataclasses import dataclass

from ...graph import Graph
from .pass_base import PassResult


@dataclass
class Step:
    """One run of one pass: its name, copies of the graph before and after, whether it says that it changed
    something."""

    name: str
    before: Graph
    after: Graph
    modified: bool


class PassManager:
    """Call it with a GraphModule: it runs `passes` on it, `steps` times at most, and stops when none changes anything.

    Args:
        passes: functions of a GraphModule that return a PassResult (`pass_result_wrapper` makes one of any
            function).
        constraints: functions (pass, later pass) -> whether that order is allowed.
        steps: how often the whole row may run.
        run_checks_after_each_pass: whether `check(graph_module)` runs after each pass and not only at the
            end.
        suppress_check_failures: whether a failing check is left alone.

    `history`: a Step for each run of a pass, from which `viz.fx(step.after, before=step.before)` draws what
    it did. torch.fx.passes.infra.pass_manager.PassManager, which keeps no history.
    """

    def __init__(self, passes=None, constraints=None, steps=None, run_checks_after_each_pass=False,
                 suppress_check_failures=False):
        self.passes = list(passes or [])
        self.constraints = list(constraints or [])
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self.history = []

    def add_pass(self, _pass):
        """Put a pass at the end of the row."""
        self.passes.append(_pass)

    def add_constraint(self, constraint):
        """Add a rule of order. RuntimeError if the row breaks it already."""
        self.constraints.append(constraint)
        self.validate_constraints()

    def validate_constraints(self):
        """RuntimeError if the row breaks a rule of order."""
        for constraint in self.constraints:
            for i, earlier in enumerate(self.passes):
                for j, later in enumerate(self.passes[i + 1:], i + 1):
                    if not constraint(earlier, later):
                        raise RuntimeError(f"pass schedule constraint violated. Expected {name_of(earlier)} "
                                           f"before {name_of(later)} but found {name_of(earlier)} at index "
                                           f"{i} and {name_of(later)} at index {j} in pass list.")

    def check(self, module):
        """What is checked after the passes: that the graph is sound. Override to check more."""
        module.graph.lint()

    def __call__(self, module):
        """Run the passes; returns a PassResult."""
        self.validate_constraints()
        self.history = []
        self.checked(module)
        any_modified = False
        for _ in range(self.steps):
            module, modified = self.run_once(module)
            any_modified = any_modified or modified
            if not modified:
                break
        if not self.run_checks_after_each_pass:
            self.checked(module)
        return PassResult(module, any_modified)

    def run_once(self, module):
        """The whole row; returns (the GraphModule, whether any pass changed it)."""
        any_modified = False
        for one in self.passes:
            module, modified = self.run_pass(one, module)
            any_modified = any_modified or modified
        return module, any_modified

    def run_pass(self, one, module):
        before = copy.deepcopy(module.graph)
        try:
            result = checked_result(one, one(module))
        except Exception as error:
            ran = [step.name for step in self.history]
            raise Exception(f"An error occurred when running the '{name_of(one)}' pass after the following "
                            f"passes: {ran}: {error}") from error
        module = result.graph_module
        module.recompile()
        self.history.append(Step(name_of(one), before, copy.deepcopy(module.graph), bool(result.modified)))
        if self.run_checks_after_each_pass:
            self.checked(module)
        return module, bool(result.modified)

    def checked(self, module):
        try:
            self.check(module)
        except Exception:
            if not self.suppress_check_failures:
                raise


def checked_result(one, result):
    """The result of a pass, if it is one."""
    if not hasattr(result, "graph_module") or not hasattr(result, "modified"):
        raise TypeError(f"The result of the pass {name_of(one)} should be type PassResult. Please wrap it "
                        "with pass_result_wrapper()")
    return result


def name_of(one):
    return getattr(one, "__name__", type(one).__name__)


def pass_result_wrapper(fn):
    """Any function of a GraphModule as a pass: None, a bool or a count says whether it changed the one it was given.

    A function that returns a GraphModule has changed it.
    """
    @functools.wraps(fn)
    def wrapped(gm):
        result = fn(gm)
        if hasattr(result, "graph_module"):
            return result
        if hasattr(result, "graph"):
            return PassResult(result, True)
        return PassResult(gm, True if result is None else bool(result))
    return wrapped
