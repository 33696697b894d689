"""Reading the command line and choosing the command."""

import argparse
import importlib.metadata
import platform
import sys

from teachtorch.cli.errors import CommandError

# Packages that a command may miss, and the extra that brings them.
EXTRA_OF = {"graphviz": "viz", "graphviz_pure": "viz", "jupyterlab": "lab", "ipykernel": "lab", "pytest": "lab"}

DRAW_EXAMPLES = """\
examples:
  teachtorch draw train.py                          the graph of the last backward, into graph.html
  teachtorch draw train.py -o step.svg              other endings: .html .svg .txt .dot .json
  teachtorch draw train.py --tensor "losses[-1]"    the graph behind this value, after the script has run
  teachtorch draw train.py --epochs 3               options that draw does not know go to the script
  teachtorch draw train.py -- -o model.pt           and so does all that follows --

The script may use teachtorch or real PyTorch.
"""

COVERAGE_EXAMPLES = """\
examples:
  teachtorch coverage train.py            what is missing, where it is used, and the nearest thing there is
  teachtorch coverage --all *.py          also what is there
  teachtorch coverage --json train.py     for programs

Exit status: 0 if all is there, 1 if something is missing, 2 if a script cannot be read.
The scripts are read, not run: methods are listed where it can be told that a value is a tensor.
"""


def main(argv=None):
    """Run one command of the console script; return its exit status.

    Args:
        argv: the words after `teachtorch`; those of this process if None.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        return run(argv)
    except CommandError as error:
        print(f"teachtorch: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        return explain_missing(error)


def run(argv):
    if argv[:1] == ["exercises"]:
        return exercises(argv[1:])
    known, handed_on = split_at_dashes(argv)
    options, unknown = make_parser().parse_known_args(known)
    return options.run(options, unknown + handed_on)


def split_at_dashes(argv):
    """Cut at the first `--`: what follows it is not ours to read."""
    cut = argv.index("--") if "--" in argv else len(argv)
    return argv[:cut], argv[cut + 1 :]


def make_parser():
    parser = argparse.ArgumentParser(prog="teachtorch", description="PyTorch's interface with the lid off.")
    parser.add_argument("--version", action="version", version=version_line())
    commands = parser.add_subparsers(metavar="command", required=True)
    add_lab(commands)
    add_draw(commands)
    add_run(commands)
    add_coverage(commands)
    # Listed for --help only: `run` hands the words of this command on unread.
    commands.add_parser("exercises", help="list, check, watch and report the exercises")
    return parser


def add_lab(commands):
    lab = commands.add_parser(
        "lab",
        help="open the chapters in JupyterLab",
        description="Open the chapters in JupyterLab. Further options go to JupyterLab, e.g. --port 9000.",
        allow_abbrev=False,
    )
    lab.set_defaults(run=open_lab)


def add_draw(commands):
    draw = commands.add_parser(
        "draw",
        help="run a script and draw its autograd graph",
        description="Run a script and draw the graph that its last backward() or autograd.grad() walked.",
        epilog=DRAW_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    draw.add_argument("script", help="the Python file to run")
    draw.add_argument("-o", "--output", default="graph.html", help="file to write; its ending says how (%(default)s)")
    draw.add_argument("--tensor", metavar="NAME", help="draw this variable of the script (or an expression)")
    draw.add_argument(
        "--max-nodes", type=at_least_four, metavar="N", help="unfold graphs of up to N nodes; larger ones are folded"
    )
    draw.set_defaults(run=draw_script)


def at_least_four(text):
    """A number of nodes: fewer than four show nothing, so `viz.graph` refuses them."""
    if not text.isdecimal() or int(text) < 4:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 4")
    return int(text)


def add_run(commands):
    run = commands.add_parser(
        "run",
        help="run a PyTorch script on teachtorch",
        description="Run an unmodified PyTorch script: `import torch` in it means teachtorch. Further words go to it.",
        usage="teachtorch run [-h] script ...",
        allow_abbrev=False,
    )
    run.add_argument("script", help="the Python file to run")
    run.set_defaults(run=run_on_teachtorch)


def add_coverage(commands):
    coverage = commands.add_parser(
        "coverage",
        help="say whether teachtorch has what a PyTorch script needs",
        description="List what scripts need of torch and teachtorch lacks, without running them.",
        epilog=COVERAGE_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    coverage.add_argument("scripts", nargs="+", metavar="script", help="a Python file to read")
    coverage.add_argument("--json", action="store_true", help="print JSON")
    coverage.add_argument("--all", action="store_true", help="list what is there as well")
    coverage.set_defaults(run=cover_scripts, parser=coverage)


def cover_scripts(options, arguments):
    if arguments:
        options.parser.error(f"unrecognized arguments: {' '.join(arguments)}")
    from teachtorch.cli.coverage import coverage

    return coverage(options.scripts, options.json, options.all)


def run_on_teachtorch(options, arguments):
    from teachtorch.cli.run import run as run_with_alias

    return run_with_alias(options.script, arguments)


def open_lab(options, arguments):
    from teachtorch.cli.lab import lab

    return lab(arguments)


def draw_script(options, arguments):
    from teachtorch.cli.draw import draw

    return draw(options.script, arguments, options.output, options.tensor, options.max_nodes)


def exercises(arguments):
    from exercises.cli import main as exercises_main

    return exercises_main(arguments)


def version_line():
    parts = [f"Python {platform.python_version()}"]
    parts += [f"{name} {installed_version(name)}" for name in ("numpy", "numba")]
    return f"teachtorch {installed_version('teachtorch')} ({', '.join(parts)})"


def installed_version(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


def explain_missing(error):
    """Name the extra that brings the missing package; a package that no extra brings is our own fault."""
    extra = EXTRA_OF.get((error.name or "").split(".")[0])
    if extra is None:
        raise error
    print(f"teachtorch: this command needs {error.name}: pip install 'teachtorch[{extra}]'", file=sys.stderr)
    return 1
