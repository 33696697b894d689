"""A stream as a FIFO queue and the thread that runs it; marks are points in the queue that can be waited for."""

import queue
import threading
from time import perf_counter

from .. import launch as launches

WAITS_FOR_ITSELF = (
    "a host function that runs in a stream must not wait for the device, nor launch what waits: the stream would wait "
    "for itself"
)


class ThisThread(threading.local):
    """Whether the calling thread is a stream's."""

    is_of_a_stream = False


_this_thread = ThisThread()


def refuse_to_wait_in_stream():
    """RuntimeError in a stream's thread. CUDA forbids such calls too (cudaLaunchHostFunc: cudaErrorNotPermitted)."""
    if _this_thread.is_of_a_stream:
        raise RuntimeError(WAITS_FOR_ITSELF)


class Mark:
    """A point in a stream's work: done once the stream has come to it. What an event records.

    `time`: when the stream came to it, in seconds of `time.perf_counter`; None before.
    """

    __slots__ = ("time", "on_wait", "_gate")

    def __init__(self, on_wait=None):
        self.time = None
        self.on_wait = on_wait
        self._gate = threading.Lock()
        self._gate.acquire()

    def __call__(self):
        """The stream has come here."""
        self.time = perf_counter()
        self._gate.release()

    def query(self):
        """Whether the stream has come here."""
        return self.time is not None

    def wait(self):
        """Block this thread until the stream has come here."""
        if self.time is None:
            with self._gate:
                pass

    def synchronize(self):
        """`wait`, then raise what went wrong on the device. For the host; streams `wait`."""
        if self.time is None:
            refuse_to_wait_in_stream()
        self.wait()
        if self.on_wait is not None:
            self.on_wait()


class Queue:
    """The work of one stream, in order. The thread starts with the first task and ends with `stop`.

    Tasks are called without arguments. An exception of one goes to `on_error(task, error)`, and the next one
    runs.
    """

    def __init__(self, name, on_error):
        self.name = name
        self.on_error = on_error
        self.thread = None
        self.tasks = queue.SimpleQueue()
        self.last_mark = None  # a mark behind which nothing was put, if there is one
        self.is_dropping = False
        self._start_lock = threading.Lock()

    def put(self, task):
        """Append a task; it runs when all tasks before it have ended."""
        if self.thread is None:
            self._start()
        self.tasks.put(task)
        self.last_mark = None  # last, so that no other thread's mark before the task is left there

    def mark(self, on_wait=None):
        """A mark behind the work that is there now."""
        mark = Mark(on_wait)
        if self.thread is None:  # nothing was ever put
            mark()
        else:
            self.last_mark = mark
            self.tasks.put(mark)
        return mark

    def is_idle(self):
        """Whether all work has been done."""
        return self.thread is None or self._latest().query()

    def wait(self):
        """Block the host until all the work that is there now has been done."""
        if self.thread is not None:
            refuse_to_wait_in_stream()
            self._latest().wait()

    def _latest(self):
        return self.last_mark or self.mark()

    def stop(self, patience=None):
        """Pass over the tasks that have not begun, complete the marks, and end the thread.

        `patience`: seconds for a task that has begun; then the thread is left to its task.
        """
        if self.thread is not None:
            self.is_dropping = True
            self.tasks.put(None)
            self.thread.join(patience)
            if not self.thread.is_alive():
                self.thread, self.is_dropping = None, False

    def forget_thread(self):
        """After a fork: the thread stayed with the parent."""
        self.thread, self.tasks, self.last_mark = None, queue.SimpleQueue(), None

    def _start(self):
        with self._start_lock:
            if self.thread is None:
                self.thread = threading.Thread(
                    target=self._serve, name=f"teachtorch-{self.name}", daemon=True
                )
                self.thread.start()

    def _serve(self):
        _this_thread.is_of_a_stream = True
        launches.prepare_device_thread()
        while True:
            task = self.tasks.get()
            if task is None:
                return
            if task.__class__ is Mark or not self.is_dropping:
                self._run(task)
            task = None  # what the task held dies now, not when the next one comes

    def _run(self, task):
        try:
            task()
        except BaseException as error:  # also SystemExit: the thread serves those who wait for it
            self.on_error(task, error)
