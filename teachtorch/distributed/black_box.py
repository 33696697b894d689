"""What a rank leaves behind if it dies: a small file that says where it was.

A rank that is killed (signal 9) cannot say anything any more. So a thread of each rank writes down the main
thread's stack twice a second; an exception is written when it happens. The launcher reads the files of its
own machine.
"""

import atexit
import ctypes
import json
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import contextmanager

FOLDER = "TEACHTORCH_BLACK_BOX"  # environment: where the launcher wants the files
LAUNCHER = "TEACHTORCH_LAUNCHER"  # environment: the launcher's process
WITNESS = "TEACHTORCH_WITNESS"  # environment: the shell that waits for this rank
KILLED = 137  # the exit code of what was killed, as a shell has it
EVERY = 0.5  # seconds
PR_SET_PDEATHSIG = 1  # of prctl(2)


class BlackBox:
    """The file of one rank: {rank, pid, state, time, traceback, mpi, mpi_since, mpi_limit}.

    `state` is "running", "failed" or "finished". `mpi`: None, "joining" while it waits in MPI_Init, since
    `mpi_since` and for at most `mpi_limit` seconds, and "joined" after that.
    """

    def __init__(self, folder, rank):
        self.path, self.rank = os.path.join(folder, f"rank-{rank}.json"), rank
        self.lock, self.state = threading.Lock(), "running"
        self.mpi = {"mpi": None, "mpi_since": None, "mpi_limit": None}

    def write(self, state, lines):
        """Replace the file at once: whoever reads it finds a whole one."""
        with self.lock:
            if self.state == "failed" or (self.state == "finished" and state == "running"):
                return
            self.state = state
            content = {
                "rank": self.rank,
                "pid": os.getpid(),
                "state": state,
                "time": time.time(),
                "traceback": "".join(lines),
                **self.mpi,
            }
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.replace(self.path + ".new", self.path)

    def watch(self, thread_id):
        """Write down where the thread is, again and again; end the rank when its witness or the launcher has ended."""
        time.sleep(EVERY / 10)  # let the script begin
        while self.state == "running":
            self.end_without_witness()
            frame = sys._current_frames().get(thread_id)
            if frame is not None:
                self.write("running", own_part(traceback.format_stack(frame)))
            time.sleep(EVERY)

    def end_without_witness(self):
        """Nobody would tell the launcher how a rank without a witness ends: it does that itself, and ends."""
        parent = int(os.environ.get(WITNESS, os.getppid()))
        if os.getppid() == parent and is_alive(int(os.environ.get(LAUNCHER, parent))):
            return
        with open(os.path.join(os.path.dirname(self.path), f"exit-{self.rank}"), "w") as file:
            file.write(str(KILLED))
        os._exit(1)

    def failed(self, error):
        self.write("failed", traceback.format_exception(type(error), error, script_part(error.__traceback__)))

    def finished(self):
        self.write("finished", [])


def is_alive(pid):
    """Whether there is such a process on this machine."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def own_part(lines):
    """The stack without the frames that start a rank."""
    starters = [
        i
        for i, line in enumerate(lines)
        if "runpy" in line or __package__.replace(".", os.sep) in line and "rank.py" in line
    ]
    return lines[starters[-1] + 1 :] if starters and starters[-1] + 1 < len(lines) else lines


def script_part(trace):
    """The traceback without the frames that start a rank."""
    inner = trace
    while inner is not None and (
        "runpy" in inner.tb_frame.f_code.co_filename
        or inner.tb_frame.f_code.co_filename.endswith(os.path.join("distributed", "rank.py"))
    ):
        inner = inner.tb_next
    return inner or trace


class _Here:
    """The black box of this process, if it has one."""

    box = None


def start(rank):
    """Begin to record, if the launcher wants it. Returns the BlackBox, or None."""
    folder = os.environ.get(FOLDER)
    if not folder or not os.path.isdir(folder):
        return None
    box = _Here.box = BlackBox(folder, rank)
    box.write("running", [])
    end_with_parent()
    box.end_without_witness()  # it may have ended before this process asked to end with it
    main = threading.main_thread().ident
    threading.Thread(target=box.watch, args=(main,), name="black box", daemon=True).start()
    atexit.register(box.finished)
    return box


@contextmanager
def joining(seconds):
    """While the block calls MPI_Init: the launcher knows that this rank waits there, and for how long.

    Nothing of this process can: MPI_Init holds all of it.
    """
    box = _Here.box
    if box is not None:
        box.mpi = {"mpi": "joining", "mpi_since": time.time(), "mpi_limit": seconds}
        box.write("running", own_part(traceback.format_stack()))
    yield
    if box is not None:
        box.mpi = dict(box.mpi, mpi="joined")
        box.write("running", own_part(traceback.format_stack()))


def end_with_parent(word=signal.SIGKILL):
    """On Linux, have this process sent `word` when its parent ends; elsewhere the watching thread ends it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, word)


def read(folder):
    """What all ranks have left: {rank: content}, with "exit", the code that the launcher's witness saw, and
    "exit_time", both None while there is none. Of a rank that died before it could leave anything there is a
    content with the state "starting".
    """
    found, exits = {}, {}
    for name in sorted(os.listdir(folder)):
        if name.startswith("exit-"):
            exits[int(name[5:])] = exit_of(os.path.join(folder, name))
        elif name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                content = json.load(file)
            found[content["rank"]] = content
    for rank in exits.keys() - found.keys():
        found[rank] = {"rank": rank, "pid": None, "state": "starting", "traceback": "", "mpi": None}
    for rank, content in found.items():
        content["exit"], content["exit_time"] = exits.get(rank, (None, None))
    return found


def exit_of(path):
    """(code, time) of a witness's file; (None, None) while it is being written."""
    with open(path, encoding="utf-8") as file:
        text = file.read().strip()
    return (int(text), os.path.getmtime(path)) if text else (None, None)
