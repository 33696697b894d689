"""What the children of these tests do; importable, since spawned children import it anew."""

import os
import signal
import time

import teachtorch as torch


def fill(t, value):
    t.fill_(value)


def fill_from(connection):
    """Write through every tensor that comes, and tell what came with it."""
    while (t := connection.recv()) is not None:
        with torch.no_grad():
            t.fill_(7)
        connection.send(
            (
                tuple(t.shape),
                t.stride(),
                t.storage_offset(),
                t.requires_grad,
                t.grad is None,
                t.is_shared(),
                type(t).__name__,
            )
        )


def same_storage(connection):
    a, b = connection.recv(), connection.recv()
    connection.send(
        a.untyped_storage() is b.untyped_storage() and a.data_ptr() + a.element_size() == b.data_ptr()
    )


def put_result(queue, done):
    """Send a tensor of the child's own, and stay until it has arrived: the descriptor comes from here."""
    queue.put(torch.arange(4.0))
    done.wait(30)


def succeed(index, seen):
    seen[index] = index + 1


def fail(index, *args):
    if index == 1:
        raise ValueError("child one cannot")
    time.sleep(60)


def die(index, how):
    if index == 0:
        time.sleep(60)
    os.kill(os.getpid(), signal.SIGKILL) if how == "killed" else os._exit(3)


def unpicklable(index):
    raise Odd("odd", lambda: 0)


class Odd(Exception):
    """Cannot be pickled, which does not matter: its traceback travels, not the exception."""


def hold_until_killed(connection):
    t = connection.recv()
    connection.send(float(t.sum()))
    time.sleep(60)


def double(t):
    return t * 2


def start_and_sleep(index, connection):
    connection.send(os.getpid())
    time.sleep(60)


def wait_for(started, done):
    started.set()
    done.wait(30)


def hold_and_answer(connection):
    """Hold the latest tensor; tell its first element, send it back, drop it, as told."""
    held = None
    while True:
        message = connection.recv()
        if isinstance(message, torch.Tensor):
            held = message
        elif message == "drop":
            held = None
        elif message == "end":
            return
        connection.send(held if message == "give" else None if held is None else float(held[0]))
        message = None
