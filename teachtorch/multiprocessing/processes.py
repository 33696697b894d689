"""Starting one function in several processes, as one undertaking: the first failure ends them all."""
import logging
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
import weakref
from multiprocessing import connection

log = logging.getLogger(__name__)
PATIENCE = 30.0                       # seconds that processes have to end after SIGTERM


class ProcessException(Exception):
    """A process has failed. `error_index`: its number; `error_pid`: its id."""

    __slots__ = ["error_index", "error_pid"]

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised; the message has the traceback."""


class ProcessExitedException(ProcessException):
    """The process was killed by a signal or left with an exit code other than 0."""

    __slots__ = ["exit_code", "signal_name"]

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


# ---- inside the process ------------------------------------------------------------------------------------

def run(fn, index, args, error_file):
    """What a process does: fn(index, *args). An exception's traceback goes into a file for the parent."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass                          # Ctrl-C reaches all processes; the parent speaks of it
    except Exception:
        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


def end_with_parent():
    """Wait until the parent is gone, and end: nobody is left to take the result."""
    connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)


# ---- outside -----------------------------------------------------------------------------------------------

class ProcessContext:
    """Processes that were started together."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        """The ids of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Wait until one has failed, or some have ended. True if all have ended well, False if some still run.

        timeout: seconds to wait. grace_period: seconds that the others have to end by themselves after a
        failure, before SIGTERM, and again before SIGKILL. ProcessRaisedException, ProcessExitedException for
        the first failure.
        """
        for sentinel in connection.wait(list(self.sentinels), timeout) if self.sentinels else ():
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode:
                self._end_all(grace_period)
                raise self._failure(index)
        return not self.sentinels

    def _end_all(self, grace_period):
        if grace_period is not None:
            self._wait(grace_period)
        self._stop("terminate", "SIGTERM")
        self._wait(PATIENCE if grace_period is None else grace_period)
        self._stop("kill", "SIGKILL")
        for process in self.processes:
            process.join()

    def _wait(self, seconds):
        deadline = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, deadline - time.monotonic()))

    def _stop(self, how, signal_name):
        for process in self.processes:
            if process.is_alive():
                log.warning("Terminating process %s via signal %s", process.pid, signal_name)
                getattr(process, how)()

    def _failure(self, index):
        """The exception for process number `index`."""
        process = self.processes[index]
        try:
            with open(self.error_files[index], "rb") as file:
                found = pickle.load(file)
        except FileNotFoundError:                    # it did not get as far as raising
            return exited(index, process.pid, process.exitcode)
        message = f"\n\n-- Process {index} terminated with the following error:\n{found}"
        return ProcessRaisedException(message, index, process.pid)


class SpawnContext(ProcessContext):
    """The former name of ProcessContext."""

    def __init__(self, processes, error_files):
        warnings.warn("SpawnContext is renamed to ProcessContext since 1.4 release.", stacklevel=2)
        super().__init__(processes, error_files)


def exited(index, pid, code):
    """The exception for a process that ended without one of its own."""
    if code >= 0:
        return ProcessExitedException(f"process {index} terminated with exit code {code}", index, pid, code)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"<Unknown signal {-code}>"
    return ProcessExitedException(f"process {index} terminated with signal {name}", index, pid, code, name)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Run fn(index, *args) in `nprocs` processes, index from 0.

    join: wait for all; without it, return the ProcessContext. start_method: "spawn", "fork" or "forkserver";
    the first and the last import fn's module anew, so the starting script needs `if __name__ == "__main__":`.
    ProcessRaisedException, ProcessExitedException for the first that fails; the others are ended.
    https://pytorch.org/docs/stable/multiprocessing.html#spawning-subprocesses
    """
    context = multiprocessing.get_context(start_method)
    folder = tempfile.mkdtemp(prefix="teachtorch-")
    error_files = [os.path.join(folder, f"{index}.pickle") for index in range(nprocs)]
    processes = []
    together = ProcessContext(processes, error_files)
    weakref.finalize(together, shutil.rmtree, folder, ignore_errors=True)
    try:
        for index in range(nprocs):
            arguments = fn, index, args, error_files[index]
            processes.append(context.Process(target=run, args=arguments, daemon=daemon))
            processes[-1].start()
            together.sentinels[processes[-1].sentinel] = index
        while join and not together.join():
            pass
    except BaseException:
        end_started(together)
        raise
    return None if join else together


def end_started(together):
    """Leave no process behind when starting or waiting is broken off."""
    together.processes[:] = [process for process in together.processes if process.pid is not None]
    together._end_all(grace_period=None)


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """`start_processes` with fresh interpreters. FutureWarning for another start_method, which is ignored."""
    if start_method != "spawn":
        warnings.warn(f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different "
                      "start_method use:\n\t\t torch.multiprocessing.start_processes(...)", FutureWarning,
                      stacklevel=2)
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
