"""Tells which process failed, and not why."""

import multiprocessing
import traceback
from multiprocessing.connection import wait

FAILS = "test_traceback"
SAYS = "the traceback"


class Failed(Exception):
    def __init__(self, index, reason):
        super().__init__(f"process {index} failed: {reason}")
        self.index, self.reason = index, reason


def run_all(functions):
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
            text = _text(reader)
            processes[index].join()
            if processes[index].exitcode:
                _end(processes)
                raise Failed(index, f"exit code {processes[index].exitcode}")


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
    try:
        return reader.recv()
    except (EOFError, OSError):
        return ""
