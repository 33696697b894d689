"""The command line: `teachtorch exercises ...`, or `python -m exercises ...`."""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
import signal
import sys
import threading
from pathlib import Path

from exercises import catalog, lessons, naming, report, show, submission, watch
from exercises.naming import UsageError
from exercises.results import Limits, Result
from exercises.runner import GraderError
from exercises.submission import Submission
from exercises.workspace import FOLDER, Workspace, default_folder

DESCRIPTION = """\
Exercises to the chapters. Edit a file of the workspace, then have it graded:

  teachtorch exercises start DIR          make a folder with the exercises, to work in
  teachtorch exercises list               what there is, and what you have passed
  teachtorch exercises watch              grade the exercise at hand whenever you save it
  teachtorch exercises check offset       grade one exercise (or several; or all, without a name)
  teachtorch exercises check ch02_strides grade one set, the exercises of one chapter; `list` shows their names
  teachtorch exercises hint offset        a question; again: a picture; again: a skeleton
  teachtorch exercises solution offset    the reference solution, once you have passed
"""
EPILOG = """\
exit codes: 0 all passed (or done), 1 something did not pass, 2 wrong usage or the grader failed, 130 stopped
by Ctrl-C. The workspace is the folder of --workspace, else of the environment variable TEACHTORCH_EXERCISES,
else exercises/ in a checkout, else ./teachtorch_exercises, made on first use; progress is kept in its .teachtorch/.
"""
IN_CHECKOUT = """\
These are the files of the checkout: Git will show what you write as changes. `start DIR` makes a folder of your own."""
NAMES = "name of an exercise or of a set, as `list` shows them"


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code.

    argv: the arguments after `exercises`; default: those of the process.
    """
    arguments = parser().parse_args(argv)
    before = _end_on_termination()
    try:
        return arguments.run(arguments)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except (UsageError, GraderError, OSError) as error:
        print(f"exercises: {error}", file=sys.stderr)
        return 2
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    look = {
        "description": DESCRIPTION,
        "epilog": EPILOG,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }
    whole = argparse.ArgumentParser("teachtorch exercises", **look)
    whole.add_argument("--workspace", type=Path, metavar="DIR", help="the folder with your files")
    whole.add_argument("--seconds", type=_seconds, default=5.0, help="time limit for one test (default 5)")
    commands = whole.add_subparsers(title="commands", metavar="COMMAND", required=True)
    start = _command(commands, "start", run_start, "make a folder with the exercises, to work in")
    start.add_argument("folder", type=Path, metavar="DIR")
    listing = _command(commands, "list", run_list, "exercises, their points, which you have passed")
    listing.add_argument("name", nargs="*", help=NAMES)
    check = _command(commands, "check", run_check, "grade exercises; without a name all of them")
    check.add_argument("name", nargs="*", help=NAMES)
    check.add_argument("--seed", type=int, help="repeat the random cases of an earlier run")
    watched = _command(commands, "watch", run_watch, "grade the exercise at hand whenever it is saved")
    watched.add_argument("name", nargs="?", help="the exercise to begin with, or the set to stay in")
    hint = _command(commands, "hint", run_hint, "the next hint: a question, then a picture, then a skeleton")
    hint.add_argument("name")
    hint.add_argument("--level", type=int, choices=(1, 2, 3), help="this hint instead of the next one")
    reset = _command(commands, "reset", run_reset, "put the starter file back (asks first; keeps a copy)")
    reset.add_argument("name")
    reset.add_argument("--yes", action="store_true", help="do not ask")
    _command(commands, "solution", run_solution, "the reference solution, once you have passed").add_argument(
        "name"
    )
    _add_report(commands)
    return whole


def _add_report(commands) -> None:
    command = _command(
        commands, "report", run_report, "points per property; over several learners: the class report"
    )
    command.add_argument(
        "what",
        nargs="*",
        help="exercises or sets to grade (default all); learners' folders to grade; reports saved with --jsonl",
    )
    command.add_argument(
        "--jsonl", metavar="PATH", help="write one JSON object per property ('-': standard output)"
    )
    command.add_argument(
        "--gradescope", metavar="PATH", help="write Gradescope's results.json ('-': standard output)"
    )
    command.add_argument("--seed", type=int, help="the same random cases for everyone")


def _command(commands, name: str, run, text: str) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    command.set_defaults(run=run)
    return command


def run_start(arguments: argparse.Namespace) -> int:
    """Make a workspace, and say how to use it."""
    workspace = Workspace(arguments.folder)
    written = workspace.prepare()
    print(f"{len(written)} starter files written to {workspace.folder}; files that were there stay as they are")
    named = shlex.quote(str(workspace.folder.resolve()))
    print(f"to have them graded, here and in the chapters: export {FOLDER}={named}")
    print(f"or each time: teachtorch exercises --workspace {workspace.folder} list")
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    """All exercises and what is passed."""
    workspace = _workspace(arguments)
    state = workspace.state()
    print(show.listing(naming.chosen(arguments.name), state.passed, state.current, state.tried))
    if workspace.folder.resolve() == catalog.PACKAGE:
        print(IN_CHECKOUT)
    return 0


def run_check(arguments: argparse.Namespace) -> int:
    """Grade exercises and remember what passed."""
    workspace = _workspace(arguments)
    by_name = arguments.name and not any(map(catalog.of_set, arguments.name))
    tell = _tell_details if by_name else show.tell_briefly
    chosen = naming.chosen(arguments.name)
    _warn(workspace, only_exercises=True)
    results = lessons.check(workspace, chosen, Limits(arguments.seconds), tell, arguments.seed)
    if len(results) > 1:
        print(f"{sum(r.score for r in results)} of {sum(r.exercise.points for r in results)} points")
    return 0 if all(result.passed for result in results) else 1


def run_watch(arguments: argparse.Namespace) -> int:
    """Grade on every save."""
    workspace = _workspace(arguments)
    chosen = catalog.of_set(arguments.name or "") or catalog.exercises()
    start = naming.one(arguments.name) if arguments.name and chosen == catalog.exercises() else None
    return watch.Watch(workspace, Limits(arguments.seconds), chosen).run(start)


def run_hint(arguments: argparse.Namespace) -> int:
    """Show a hint, and remember that it was shown."""
    workspace, exercise = _workspace(arguments), naming.one(arguments.name)
    print(lessons.hint(workspace, exercise, arguments.level))
    return 0


def run_reset(arguments: argparse.Namespace) -> int:
    """Put a starter back."""
    workspace, exercise = _workspace(arguments), naming.one(arguments.name)
    if not arguments.yes and not _agreed(
        f"put the starter of {exercise.name} back over {workspace.file(exercise)}?"
    ):
        print("nothing changed")
        return 1
    print(f"the starter is back; your file is kept as {workspace.reset(exercise)}")
    return 0


def run_solution(arguments: argparse.Namespace) -> int:
    """Show the solution after a pass."""
    workspace, exercise = _workspace(arguments), naming.one(arguments.name)
    if exercise.name not in workspace.state().passed:
        raise UsageError(
            f"the solution of {exercise.name} is shown once you have passed: try `hint {exercise.name}`"
        )
    print(lessons.solution(exercise, workspace.state().hints.get(exercise.name, 0)))
    return 0


def run_report(arguments: argparse.Namespace) -> int:
    """Grade without writing to the folder, and report; over folders and saved reports: the class report."""
    words = naming.sort(arguments.what)
    chosen = naming.chosen(words.names)
    _check_folders(arguments.jsonl, arguments.gradescope)
    if words.folders or words.files:
        return _report_class(arguments, words, chosen)
    place = _submission(arguments)
    results = lessons.grade_files(place, chosen, Limits(arguments.seconds), _tell_progress, arguments.seed)
    _put(arguments.jsonl, report.jsonl(report.rows(results, place.name)))
    _put(arguments.gradescope, json.dumps(report.gradescope(results), indent=2) + "\n")
    if "-" not in (arguments.jsonl, arguments.gradescope):
        print(report.text(results))
    return 0 if all(result.passed for result in results) else 1


def _report_class(arguments: argparse.Namespace, words: naming.Words, chosen: list) -> int:
    if arguments.gradescope:
        raise UsageError("--gradescope is about one learner: name the folder with --workspace")
    reports = [each for file in words.files for each in _read_reports(file, chosen)]
    with _opened(arguments.jsonl) as file:
        reports += _grade_folders(arguments, words.folders, chosen, file)
    if arguments.jsonl != "-":
        print(report.class_report(reports))
    return 0


def _grade_folders(arguments: argparse.Namespace, folders: list[Path], chosen: list, file) -> list:
    """Each learner's records, which are also written to the file as soon as they are there."""
    learners, reports = submission.submissions(folders), []
    graded = lessons.grade_class(learners, chosen, Limits(arguments.seconds), arguments.seed)
    for number, (learner, results) in enumerate(graded, 1):
        _warn(learner, f"{learner.name}: ")
        points = f"{sum(r.score for r in results)} of {sum(r.exercise.points for r in results)} points"
        print(f"[{number}/{len(learners)}] {learner.name}: {points}", file=sys.stderr, flush=True)
        reports.append((learner.name, report.rows(results, learner.name)))
        if file:
            file.write(report.jsonl(reports[-1][1]))
            file.flush()
    return reports


def _read_reports(path: Path, chosen: list) -> list[tuple[str, list[dict]]]:
    names = [each.name for each in chosen]
    try:
        records = [record for record in report.read(path) if record["exercise"] in names]
    except ValueError as error:
        raise UsageError(error) from error
    return report.by_learner(records, path.stem)


def _check_folders(*paths: str | None) -> None:
    """A report that cannot be written is refused before the grading, which may take long."""
    for path in filter(None, paths):
        if path != "-" and not Path(path).parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no folder {Path(path).parent}")


def _opened(path: str | None):
    """The file to write to: none, standard output for "-"."""
    if path == "-":
        return contextlib.nullcontext(sys.stdout)
    return Path(path).open("w", encoding="utf-8") if path else contextlib.nullcontext()


def _put(path: str | None, text: str) -> None:
    with _opened(path) as file:
        if file:
            file.write(text)


def _submission(arguments: argparse.Namespace) -> Submission:
    """The learner's folder, which must be there; only a folder that was named gives a learner's name."""
    folder = arguments.workspace or default_folder()
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; `list` makes one with the starters")
    found = Submission(folder, folder.resolve().name if arguments.workspace else "")
    _warn(found)
    return found


def _warn(place: Submission | Workspace, who: str = "", only_exercises: bool = False) -> None:
    for text in submission.warnings(place, only_exercises):
        print(f"warning: {who}{text}", file=sys.stderr)


def _workspace(arguments: argparse.Namespace) -> Workspace:
    workspace = Workspace(arguments.workspace or default_folder())
    written = workspace.prepare()
    if written:
        print(f"{len(written)} starter files written to {workspace.folder}", file=sys.stderr)
    return workspace


def _agreed(question: str) -> bool:
    print(f"{question} [y/n] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell_details(result: Result) -> None:
    print(show.details(result) + "\n", flush=True)


def _tell_progress(result: Result) -> None:
    print(show.headline(result), file=sys.stderr, flush=True)


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError("a time limit is more than 0 and at most 3600 seconds")
    return seconds


def _end_on_termination():
    """Handle SIGTERM like Ctrl-C, so that no graded process is left behind; the handler before."""
    if threading.current_thread() is not threading.main_thread():
        return None
    return signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number, frame) -> None:
    raise KeyboardInterrupt
