"""Lets the others go on."""

import multiprocessing
import traceback
from multiprocessing.connection import wait

FAILS = "test_nothing_is_left"
SAYS = "still running"


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
    waiting = {process.sentinel: index for index, process in enumerate(processes)}
    while waiting:
        for sentinel in wait(list(waiting)):
            index = waiting.pop(sentinel)
            processes[index].join()
            if processes[index].exitcode:
                raise Failed(index, _reason(processes[index], readers[index]))


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


def _reason(process, reader):
    try:
        return reader.recv()
    except EOFError:
        return f"exit code {process.exitcode}"
