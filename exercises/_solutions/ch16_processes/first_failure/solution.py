"""Start functions in processes of their own; the first failure ends them all.

    run_all([load, train, evaluate])

If `train` raises, nobody wants to wait until `load` is done: the others are ended, and the caller gets an
exception with the traceback of the process that failed. A process may also end without raising: killed by a
signal (by the system, when memory runs out), or by `sys.exit(3)`. Then its `exitcode` is not 0 (minus the
signal's number, or 3).

Useful are `multiprocessing.get_context("fork")`, with `Process` and `Pipe`, and
`multiprocessing.connection.wait`: it takes a list of processes' `sentinel`s or of pipes' ends and returns those
that are ready, as soon as there is one. A sentinel is ready when its process has ended, a pipe's end when there
is something to read, or when nobody is left who could write. A pipe holds some 64 KiB: who writes more waits
until somebody reads. The start method fork needs Linux or macOS.
"""

import multiprocessing
import traceback
from multiprocessing.connection import wait


class Failed(Exception):
    """index: which process failed first. reason: its traceback as text, or its exit code if there is none."""

    def __init__(self, index, reason):
        super().__init__(f"process {index} failed: {reason}")
        self.index, self.reason = index, reason


def run_all(functions):
    """Call each function in a process of its own, at the same time, and wait until all have returned.

    functions: a list of functions without arguments. If one fails, the other processes are ended, nothing is
    left running, and Failed is raised: its reason holds the traceback, or the exit code of a process that
    left without one.
    """
    # solution
    context = multiprocessing.get_context("fork")
    processes, readers = [], []
    for function in functions:
        reader, writer = context.Pipe(duplex=False)
        processes.append(context.Process(target=_report, args=(function, writer)))
        processes[-1].start()
        writer.close()
        readers.append(reader)
    waiting = {reader: index for index, reader in enumerate(readers)}
    while waiting:
        for reader in wait(list(waiting)):
            index = waiting.pop(reader)
            text = _text(reader)  # first: who writes more than the pipe holds ends only after that
            processes[index].join()
            if processes[index].exitcode:
                _end(processes)
                raise Failed(index, text or f"exit code {processes[index].exitcode}")
    # end of solution


# solution
def _report(function, writer):
    try:
        function()
    except Exception:
        writer.send(traceback.format_exc())
        raise SystemExit(1) from None


def _end(processes):
    for process in processes:
        process.kill()
    for process in processes:
        process.join()


def _text(reader):
    """The traceback; nothing from a process that did not send one."""
    try:
        return reader.recv()
    except (EOFError, OSError):
        return ""


# end of solution
