"""Ctrl-C: the first one lets the batch at hand end, so that the checkpoint lies between two batches."""

import signal
import threading
from contextlib import contextmanager


class Interrupts:
    """Whether Ctrl-C was pressed while a run has the signal; a second one interrupts at once."""

    def __init__(self):
        self.is_pending = False

    @contextmanager
    def deferred(self):
        """While the block runs, SIGINT is noted.

        Only the main thread gets signals; elsewhere nothing changes.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        if before is not signal.default_int_handler:  # someone else's: leave it
            yield
            return
        signal.signal(signal.SIGINT, self._note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _note(self, number, frame):
        if self.is_pending:
            raise KeyboardInterrupt
        self.is_pending = True

    def check(self):
        """KeyboardInterrupt if one is pending."""
        if self.is_pending:
            self.is_pending = False
            raise KeyboardInterrupt
