"""One run of the launcher: mpiexec, the ranks' output, and why the job cannot go on, if it cannot.

mpiexec ends a job when a rank dies that has called MPI_Init. It takes no notice of one that dies before: the
others would wait for it in MPI_Init for ever, and no code of ours runs there. So the launcher looks at what
the ranks leave (black_box.py), and ends a job that cannot be completed itself.
"""

import math
import os
import signal
import subprocess
import sys
import threading
import time

from . import black_box

LOOK_EVERY = 0.2  # seconds between two looks at what the ranks have left
GRACE = 1.0  # seconds in which mpiexec may end a job by itself, after one of its ranks has gone
PATIENCE = 5.0  # seconds that ranks get to end after they were told to


class Job:
    """`command` is mpiexec's; `folder` is where the ranks leave their black boxes; `timeout`: seconds, or None."""

    def __init__(self, command, environment, folder, timeout=None):
        self.command, self.environment, self.folder, self.timeout = command, environment, folder, timeout
        self.timed_out = self.interrupted = False
        self.culprit = None  # the rank without which the others cannot go on, if it was seen in time

    def run(self):
        """Run the job; its exit status."""
        started = time.monotonic()
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
        self.child = subprocess.Popen(
            self.command,
            env=self.environment,
            start_new_session=True,
            preexec_fn=end_with_launcher if sys.platform == "linux" else None,
            **pipes,
        )
        readers = [
            threading.Thread(target=pass_on, args=pair, daemon=True)
            for pair in ((self.child.stdout, sys.stdout), (self.child.stderr, sys.stderr))
        ]
        for reader in readers:
            reader.start()
        self.wait()
        self.end_the_rest()
        for reader, pipe in zip(readers, (self.child.stdout, self.child.stderr)):
            reader.join(PATIENCE)
            pipe.close()
        return self.conclude(time.monotonic() - started)

    # ---- waiting ----

    def wait(self):
        """Wait for the end, or bring it about: when the time is over, when a rank is missing for good, and
        when this process is told to end.
        """
        before = signal.signal(signal.SIGTERM, raise_interrupt)
        try:
            if not self.ends_by_itself():
                self.end()
        except KeyboardInterrupt:
            self.interrupted = True
            self.end()
        finally:
            signal.signal(signal.SIGTERM, before)

    def ends_by_itself(self):
        """Wait for mpiexec: True when it has ended. False when the time is over, or a rank has been missing
        for longer than mpiexec needs to notice.
        """
        deadline, gives_up_at = time.monotonic() + (self.timeout or math.inf), math.inf
        while not has_ended(self.child, LOOK_EVERY):
            now = time.monotonic()
            if self.culprit is None:
                self.culprit = missing_for_good(black_box.read(self.folder), time.time())
                gives_up_at = math.inf if self.culprit is None else now + GRACE
            if now >= gives_up_at:
                return False
            if now >= deadline:
                self.timed_out = True
                return False
        return True

    # ---- ending ----

    def end(self):
        """End mpiexec, which ends its ranks, and then whatever is left of them."""
        for word in (signal.SIGTERM, signal.SIGKILL):
            signal_group(self.child.pid, word)
            if has_ended(self.child, PATIENCE):
                break
        self.end_the_rest()

    def end_the_rest(self):
        """A rank whose witness was ended ends itself; this is for those that cannot."""
        for content in black_box.read(self.folder).values():
            if content["exit"] is None:
                signal_group(content["pid"], signal.SIGKILL, os.kill)

    # ---- the verdict ----

    def conclude(self, seconds):
        """Say how it ended; the exit status."""
        boxes = black_box.read(self.folder)
        if self.interrupted or self.timed_out:
            how = "as it was told" if self.interrupted else "its --timeout"
            say(f"ended after {seconds:.1f} s, {how}. Where the ranks were:")
            for rank, content in sorted(boxes.items()):
                say_where(rank, content)
            return 130 if self.interrupted else 124
        culprit = first_failed(boxes) or self.culprit or first_dead(boxes) or first_unfinished(boxes)
        if self.child.returncode == 0 and culprit is None:
            return 0
        self.name(culprit, seconds)
        status = self.child.returncode
        return status if status and status > 0 else (culprit and culprit["exit"]) or 1

    def name(self, culprit, seconds):
        if culprit is None:
            say(f"the job failed after {seconds:.1f} s with status {self.child.returncode}")
            return
        pid = f" (pid {culprit['pid']})" if culprit["pid"] else ""
        say(
            f"rank {culprit['rank']}{pid} {what_it_did(culprit)} after {seconds:.1f} s; "
            "the other ranks were ended with it."
        )
        say_where(culprit["rank"], culprit)


def pass_on(pipe, target):
    """Hand the output on, line by line."""
    for line in pipe:
        target.write(line)
        target.flush()


def has_ended(child, seconds):
    """Whether the process ends within so many seconds."""
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def end_with_launcher():
    """Runs in mpiexec, before it is mpiexec: it is told to end when the launcher is gone."""
    black_box.end_with_parent(signal.SIGTERM)


def raise_interrupt(*_):
    raise KeyboardInterrupt


SEND_TO_GROUP = getattr(os, "killpg", os.kill)


def signal_group(pid, word, send=SEND_TO_GROUP):
    try:
        send(pid, word)
    except ProcessLookupError:
        return


# ---- who is to blame ----


def missing_for_good(boxes, now):
    """The rank because of which this job cannot be completed, with "why"; None if it can."""
    found = first_failed(boxes) or first_dead(boxes) or first_lost(boxes)
    if found is not None:
        return found
    waiting = [one for one in boxes.values() if one["mpi"] == "joining"]
    if not waiting:
        return None
    since, limit = min((one["mpi_since"], one["mpi_limit"]) for one in waiting)
    others = [one for one in boxes.values() if one["mpi"] is None]
    gone = [one for one in others if one["exit"] is not None]
    names = ", ".join(str(one["rank"]) for one in sorted(waiting, key=lambda one: one["rank"]))
    waits = f"rank {names} waits" if len(waiting) == 1 else f"ranks {names} wait"
    if gone and now - since > GRACE:
        return {**gone[0], "why": f"ended without init_process_group, where {waits} for it,"}
    if others and now - since > limit:
        return {**others[0], "why": f"has not come to init_process_group, where {waits} for it; given up"}
    return None


def first_failed(boxes):
    """The rank whose exception came first; the others' came of it."""
    failed = [content for content in boxes.values() if content["state"] == "failed"]
    return min(failed, key=lambda content: content["time"], default=None)


def first_dead(boxes):
    """The first rank whose witness saw it end badly; those that mpiexec ended have lost their witness."""
    dead = [content for content in boxes.values() if content["exit"] not in (None, 0)]
    return min(dead, key=lambda content: content["exit_time"], default=None)


def first_lost(boxes):
    """A rank that is gone together with its witness."""
    lost = (
        one
        for one in boxes.values()
        if one["exit"] is None and one["state"] == "running" and not black_box.is_alive(one["pid"])
    )
    return next(({**one, "why": "was killed"} for one in lost), None)


def first_unfinished(boxes):
    """A rank that ended well before its script did: os._exit(0)."""
    return next((content for content in boxes.values() if content["exit"] == 0 and content["state"] == "running"), None)


def what_it_did(content):
    """How a rank came to its end, in words."""
    if "why" in content:
        return content["why"]
    if content["state"] == "failed":
        return "failed"
    early = ", before its script had begun," if content["state"] == "starting" else ""
    return how_it_died(content["exit"]) + early


def how_it_died(code):
    """The words for an exit code as a shell gives it: 128 + signal."""
    number = code - 128
    if number in set(signal.Signals):
        return f"died by signal {number} ({signal.Signals(number).name})"
    return f"ended with exit code {code}" + ("" if code else ", in the middle of its script,")


def say(text):
    print(f"teachtorch.distributed.run: {text}", file=sys.stderr, flush=True)


def say_where(rank, content):
    text = content["traceback"].rstrip() or "  (nothing was recorded yet)"
    when = "Its last traceback" if content["state"] in ("running", "starting") else "Its traceback"
    say(f"rank {rank}, {content['state']}. {when}:\n{text}")
