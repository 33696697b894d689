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

FOLDER = "TEACHTORCH_BLACK_BOX"  # environment: where the launcher wants the files
EVERY = 0.5  # seconds
PR_SET_PDEATHSIG = 1  # of prctl(2)


class BlackBox:
    """The file of one rank: {rank, pid, state, time, traceback}; `state` is "running", "failed" or
    "finished".
    """

    def __init__(self, folder, rank):
        self.path, self.rank = os.path.join(folder, f"rank-{rank}.json"), rank
        self.lock, self.state = threading.Lock(), "running"

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
            }
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(content, file)
            os.replace(self.path + ".new", self.path)

    def watch(self, thread_id):
        """Write down where the thread is, again and again; end the rank when its parent has ended."""
        parent = os.getppid()
        time.sleep(EVERY / 10)  # let the script begin
        while self.state == "running":
            if os.getppid() != parent:
                os._exit(1)
            frame = sys._current_frames().get(thread_id)
            if frame is not None:
                self.write("running", own_part(traceback.format_stack(frame)))
            time.sleep(EVERY)

    def failed(self, error):
        self.write("failed", traceback.format_exception(type(error), error, script_part(error.__traceback__)))

    def finished(self):
        self.write("finished", [])


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


def start(rank):
    """Begin to record, if the launcher wants it. Returns the BlackBox, or None."""
    folder = os.environ.get(FOLDER)
    if not folder or not os.path.isdir(folder):
        return None
    box = BlackBox(folder, rank)
    box.write("running", [])
    main = threading.main_thread().ident
    threading.Thread(target=box.watch, args=(main,), name="black box", daemon=True).start()
    end_with_parent()
    atexit.register(box.finished)
    return box


def end_with_parent():
    """On Linux, have this process killed when its parent ends; elsewhere the watching thread sees to it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def read(folder):
    """What all ranks have left: {rank: content}, with "exit", the code that the launcher's witness saw, if
    any.
    """
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                content = json.load(file)
            found[content["rank"]] = dict(content, exit=exit_code(folder, content["rank"]))
    return found


def exit_code(folder, rank):
    path = os.path.join(folder, f"exit-{rank}")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return int(file.read() or 0)
