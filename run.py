#!/usr/bin/env python3
"""Set up teachtorch and run it. Needs only Python and pip.

    python3 run.py lab     open the chapters in JupyterLab
    python3 run.py test    run all tests

Everything is installed into .venv beside this file; the first run takes a few minutes, later runs
start at once. What follows the command is handed on: `run.py test -k strides`, `run.py lab --port 9000`.
"""

# Only the standard library is used here, and only syntax that old Pythons parse, so that they can
# say which Python is needed instead of failing on this file.
import argparse
import collections
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

OLDEST, NEWEST = (3, 11), (3, 13)
ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
WINDOWS = os.name == "nt"
BIN = os.path.join(VENV, "Scripts" if WINDOWS else "bin")
VENV_PYTHON = os.path.join(BIN, "python.exe" if WINDOWS else "python")
LOG = os.path.join(VENV, "install.log")
SHOWN_ON_FAILURE = 20  # closing lines of a failed installation


class SetupError(Exception):
    """Set-up cannot go on; the message says what to do."""


def main(argv):
    options, handed_on = parse(argv)
    try:
        reexec_with_supported_python(argv)
        return COMMANDS[options.command](options, handed_on)
    except SetupError as error:
        print("\n%s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted. The same command goes on from here.", file=sys.stderr)
        return 130


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="run.py",
        usage="run.py [options] {lab,test} [what is handed on to JupyterLab or pytest]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--reinstall", action="store_true", help="build .venv anew first")
    parser.add_argument(
        "--without-torch",
        action="store_true",
        help="test: do not install PyTorch; tests that compare with it are skipped",
    )
    parser.add_argument("command", choices=sorted(COMMANDS), help="what to do")
    return parser.parse_known_args(argv)


def lab(options, handed_on):
    prepare_venv(options.reinstall)
    install("lab", ["lab"])
    silence_news()
    return run_in_venv(["-m", "teachtorch", "lab"] + handed_on)


def test(options, handed_on):
    prepare_venv(options.reinstall)
    install("test", ["test"])
    if not options.without_torch:
        install_oracle()
    return run_in_venv(["-m", "pytest", "-n", "auto", "--dist", "worksteal"] + handed_on)


COMMANDS = {"lab": lab, "test": test}


# Finding a Python


def is_supported(version):
    return OLDEST <= tuple(version[:2]) <= NEWEST


def reexec_with_supported_python(argv):
    """Start over under a Python that teachtorch supports, if this one is too old or too new."""
    if is_supported(sys.version_info):
        return
    found = find_supported_python()
    if found is None:
        raise SetupError(
            "teachtorch needs Python %d.%d to %d.%d; this is %s, and no other was found on PATH.\n"
            "Install one (python.org, your system's packages, or `uv python install 3.12`) and try again."
            % (OLDEST + NEWEST + (sys.version.split()[0],))
        )
    print("Python %s is not supported; using %s." % (sys.version.split()[0], " ".join(found)), flush=True)
    sys.exit(run_to_the_end(found + [os.path.abspath(__file__)] + argv))


def find_supported_python():
    """Return the command line of the first supported Python that starts, or None."""
    minors = range(OLDEST[1], NEWEST[1] + 1)
    candidates = [["python3.%d" % minor] for minor in minors] + [["python3"], ["python"]]
    if WINDOWS:
        candidates += [["py", "-3.%d" % minor] for minor in minors]
    if shutil.which("uv"):
        candidates += [uv_python("3.%d" % minor) for minor in minors]
    return next((command for command in candidates if command and starts_supported(command)), None)


def uv_python(version):
    command = ["uv", "python", "find", version]
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [found.stdout.decode().strip()] if found.returncode == 0 else None


def starts_supported(command):
    """Whether the command starts a supported Python: version managers leave stubs that do not start."""
    if shutil.which(command[0]) is None:
        return False
    report = "import sys, json; print(json.dumps(sys.version_info[:2]))"
    answer = subprocess.run(command + ["-c", report], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return answer.returncode == 0 and is_supported(json.loads(answer.stdout.decode()))


# The virtual environment


def prepare_venv(reinstall):
    """Make .venv unless a whole one, made for this folder, is there."""
    if not reinstall and read_stamp("venv") == venv_identity() and os.path.exists(VENV_PYTHON):
        return
    with Step("Making the virtual environment .venv"):
        if os.path.isdir(VENV):
            shutil.rmtree(VENV)
        make_venv()
    write_stamp("venv", venv_identity())


def venv_identity():
    """A virtual environment knows absolute paths: it is of no use once the folder has moved."""
    return "%s\n%s" % (sys.version.split()[0], ROOT)


def make_venv():
    """Make .venv with pip in it, by the first way that this machine offers."""
    log = []
    if can_import("ensurepip") and succeeds([sys.executable, "-m", "venv", VENV], log):
        return
    by_uv = ["uv", "venv", "--seed", "--clear", "--python", sys.executable, VENV]
    if shutil.which("uv") and succeeds(by_uv, log):
        return
    bare = [sys.executable, "-m", "venv", "--clear", "--without-pip", VENV]
    borrow_pip = [sys.executable, "-m", "pip", "--python", VENV_PYTHON, "install", "pip"]
    if succeeds(bare, log) and can_import("pip") and succeeds(borrow_pip, log):
        return
    raise SetupError(
        "%s\nPython's venv module does not work here. On Debian and Ubuntu:\n"
        "    apt install python3-venv\nElsewhere install a Python from python.org, or uv, and try again."
        % "\n".join(log[-SHOWN_ON_FAILURE:])
    )


def can_import(name):
    return subprocess.call([sys.executable, "-c", "import " + name], stderr=subprocess.DEVNULL) == 0


def succeeds(command, log):
    """Run the command, add its output to `log`, and return whether it went well."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    log += done.stdout.decode(errors="replace").splitlines()
    return done.returncode == 0


# Installing into it


def install(name, extras):
    """Install the repository with these extras, editable, unless that was done before."""
    identity = installed_identity()
    if read_stamp(name) == identity:
        return
    target = "%s[%s]" % (ROOT, ",".join(extras))
    with Step("Installing teachtorch with what `%s` needs" % name) as step:
        if not (shutil.which("uv") and uv_installs(["-e", target], step)):
            run_installer(pip_install() + ["-e", target], step)
    write_stamp(name, identity)


def uv_installs(requirements, step):
    """Try uv, which is quicker than pip; it does not read pip's settings, so pip has the last word."""
    try:
        run_installer(["uv", "pip", "install", "--python", VENV_PYTHON] + requirements, step)
    except SetupError:
        return False
    return True


def silence_news():
    """Spare the reader JupyterLab's question about its news; it can be turned on again in Lab's settings."""
    folder = os.path.join(VENV, "share", "jupyter", "lab", "settings")
    os.makedirs(folder, exist_ok=True)
    settings = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}
    with open(os.path.join(folder, "overrides.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file)


def install_oracle():
    """Install PyTorch, which the parity tests compare with; only CI insists on it."""
    requirements = project_table()["optional-dependencies"]["torch"]
    wanted = "\n".join(requirements)
    if read_stamp("torch") == wanted:
        return
    try:
        with Step("Installing %s, the reference of the parity tests" % wanted) as step:
            # pip, not uv: pip also looks where the machine keeps a small CPU build.
            run_installer(pip_install() + requirements, step)
        write_stamp("torch", wanted)
    except SetupError as error:
        if os.environ.get("CI") == "true":
            raise
        print("%s\n\nGoing on without PyTorch: the tests that compare with it are skipped.\n" % error)


def pip_install():
    # Byte code is made on first import: compiling all of it now would double the wait.
    return [VENV_PYTHON, "-m", "pip", "install", "--no-compile", "--disable-pip-version-check"]


def run_installer(command, step):
    """Run pip or uv and show its newest line as progress; SetupError with its closing lines if it fails."""
    closing = collections.deque(maxlen=SHOWN_ON_FAILURE)
    with open(LOG, "a", encoding="utf-8") as log:
        log.write("\n$ %s\n" % " ".join(command))
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        child = subprocess.Popen(command, **streams)
        try:
            for line in child.stdout:
                text = line.decode(errors="replace").rstrip()
                log.write(text + "\n")
                closing.append(text)
                step.show(text)
            code = child.wait()
        finally:
            end(child)
    if code != 0:
        raise SetupError(explain_failure(closing))


def end(child):
    """Wait for a child that Ctrl-C reached as well, and end it if it stays."""
    child.stdout.close()
    try:
        child.wait(timeout=5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def explain_failure(closing):
    advice = "Check the connection and try again; what was installed is kept."
    text = "\n".join(closing).lower()
    if "no space left" in text:
        advice = "The disk is full: JupyterLab needs 1 GB, the tests with PyTorch 2 GB or more."
    elif "no matching distribution" in text or "no solution found" in text:
        advice = "No package was found for this system and Python %s; another of %d.%d to %d.%d may do."
        advice %= (sys.version.split()[0],) + OLDEST + NEWEST
    return "%s\n\nThe installation failed. %s\nThe whole output is in %s" % ("\n".join(closing), advice, LOG)


# What was done before


def installed_identity():
    """What an installation depends on: the packages asked for, not the tools' settings."""
    table = json.dumps(project_table(), sort_keys=True)
    return hashlib.sha256(table.encode()).hexdigest()


def project_table():
    import tomllib  # here, because older Pythons lack it and must still reach the version check

    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        return tomllib.load(file)["project"]


def stamp_path(name):
    return os.path.join(VENV, "installed-%s.txt" % name)


def read_stamp(name):
    if not os.path.exists(stamp_path(name)):
        return None
    with open(stamp_path(name), encoding="utf-8") as file:
        return file.read()


def write_stamp(name, text):
    with open(stamp_path(name), "w", encoding="utf-8") as file:
        file.write(text)


# Showing and running


class Step:
    """One line for one step of the set-up: what is done, how far it is, how long it took."""

    def __init__(self, title):
        self.title = title
        self.started = time.monotonic()
        self.live = sys.stdout.isatty()

    def __enter__(self):
        print(self.title + " ...", end="" if self.live else "\n", flush=True)
        return self

    def show(self, progress):
        """Show one line of progress in place; a log file gets none."""
        if self.live and progress.strip():
            width = shutil.get_terminal_size().columns - 1
            line = "%s (%d s) %s" % (self.title, self.seconds(), progress.strip())
            print("\r" + line[:width].ljust(width), end="", flush=True)

    def __exit__(self, kind, error, trace):
        outcome = "done in %d s" % self.seconds() if kind is None else "stopped after %d s" % self.seconds()
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print("\r" + (self.title + ": " + outcome)[:width].ljust(width), flush=True)
        else:
            print("  " + outcome, flush=True)

    def seconds(self):
        return time.monotonic() - self.started


def run_in_venv(arguments):
    """Run .venv's Python in the repository, with its programs first on PATH; return the exit status."""
    environment = dict(os.environ, VIRTUAL_ENV=VENV)
    environment["PATH"] = BIN + os.pathsep + environment.get("PATH", "")
    return run_to_the_end([VENV_PYTHON] + arguments, cwd=ROOT, env=environment)


def run_to_the_end(command, **options):
    """Run the command; on Ctrl-C let it close by itself, since the terminal told it as well."""
    child = subprocess.Popen(command, **options)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
