"""Futures: results that are not there yet (torch.futures).

https://docs.pytorch.org/docs/stable/futures.html
"""

import threading


class Future:
    """A value, or an exception, that comes later; `devices` is accepted.

    `then` chains: the callback gets the finished future, and what it returns is the value of a new one.
    """

    def __init__(self, *, devices=None):
        self._ready, self._value, self._error, self._callbacks = threading.Event(), None, None, []

    def done(self):
        """Whether the value or an exception is there."""
        return self._ready.is_set()

    def wait(self):
        """The value, when it is there; raises the exception if there is one."""
        self._ready.wait()
        return self.value()

    def value(self):
        """The value, which must be there."""
        if not self._ready.is_set():
            raise RuntimeError("value() called on a future that is not done: call wait()")
        if self._error is not None:
            raise self._error
        return self._value

    def set_result(self, result):
        """Finish with a value. RuntimeError if it is finished."""
        self._finish(result, None)

    def set_exception(self, result):
        """Finish with an exception."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, value, error):
        if self._ready.is_set():
            raise RuntimeError("Future already marked completed")
        self._value, self._error = value, error
        self._ready.set()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback):
        """Call callback(self) when it is finished; at once if it is."""
        if self._ready.is_set():
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, callback):
        """A Future of callback(self)."""
        chained = Following(self)
        self.add_done_callback(lambda finished: chained._take(callback, finished))
        return chained

    def _take(self, callback, finished):
        try:
            result = callback(finished)
        except Exception as error:  # belongs to whoever waits for the result
            self.set_exception(error)
        else:
            self.set_result(result)


class Following(Future):
    """The Future of a callback on `source`: waiting for it waits for the source, which may need to be driven."""

    def __init__(self, source):
        super().__init__()
        self._source = source

    def wait(self):
        drive(self._source)
        return super().wait()

    def done(self):
        self._source.done()
        return super().done()


class WorkFuture(Future):
    """The Future of a collective's tensors: nothing finishes it but being waited for or asked."""

    def __init__(self, work):
        super().__init__()
        self._work = work

    def wait(self):
        self._work.wait()
        return self._take_result()

    def done(self):
        if not self._ready.is_set() and self._work.is_completed():
            self._take_result()
        return self._ready.is_set()

    def _take_result(self):
        if not self._ready.is_set():
            self.set_result(list(self._work.tensors))
        return self.value()


def drive(future):
    """Wait for a future and leave its exception, if any, to those who hold it."""
    try:
        future.wait()
    except Exception:  # the callbacks have it too: they decide
        if not future.done():
            raise


def collect_all(futures):
    """A Future of the list of these futures, finished when all of them are."""
    return All(futures)


def wait_all(futures):
    """The values of all futures, in order."""
    return [future.wait() for future in collect_all(futures).wait()]


class All(Future):
    """Finished when all its members are."""

    def __init__(self, futures):
        super().__init__()
        self._members = list(futures)
        for future in self._members:
            future.add_done_callback(self._look)
        self._look(None)

    def _look(self, _):
        if not self._ready.is_set() and all(Future.done(future) for future in self._members):
            self.set_result(self._members)

    def wait(self):
        for future in self._members:
            drive(future)
        return super().wait()
