"""Ranks that are processes: the same Comm as in `ranks.py`, over MPI.

All processes run the same test. In it `Ranks(n).run(function)` calls function(comm) in the first n of them;
then each tells all others what came of it, so that the test goes on everywhere with the same results.

Whether all wait for each other is found out by asking: a rank that has waited for a while asks the others
where they are. Only ranks that wait, or are done, answer. If all do, and nothing has changed the second
time, and no message is on its way, then nothing ever will.
"""

import itertools
import os
import pickle
import time

from exercises.grading.ranks import Comm, Stuck, all_wait, different

ASKS_AFTER = 0.25  # seconds of waiting, and between two rounds of questions
SPINS = 100  # so many looks at full speed, then with a pause
PAUSE = 0.0005


class Post:
    """Messages between processes: any object, sent at once, kept by its label until it is fetched."""

    def __init__(self, MPI):
        self.comm = MPI.COMM_WORLD.Dup()
        self.rank, self.size, self.status = self.comm.rank, self.comm.size, MPI.Status()
        self.under_way, self.boxes = [], {}
        self.counts = {}  # {run: [messages sent, messages come]}, of those that ranks may wait for

    def send(self, to, label, value, run=None):
        """Send a value; `run`: count the message for this run."""
        self.under_way = [request for request in self.under_way if not request.Test()]
        self.under_way.append(self.comm.isend((label, value, run), to))
        self.count(run, 0)

    def collect(self):
        """Take in what has come."""
        while self.comm.iprobe(status=self.status):
            source = self.status.source
            label, value, run = self.comm.recv(source=source)
            self.boxes.setdefault((source, label), []).append(value)
            self.count(run, 1)

    def count(self, run, which):
        if run is not None:
            self.counts.setdefault(run, [0, 0])[which] += 1

    def has(self, source, label):
        return bool(self.boxes.get((source, label)))

    def fetch(self, source, label):
        """The oldest message of this label from a rank; it has come."""
        return self.boxes[source, label].pop(0)

    def wait(self, source, label):
        """The next message of this label, however long it takes."""
        for spins in itertools.count():
            self.collect()
            if self.has(source, label):
                return self.fetch(source, label)
            pause(spins)


def pause(spins):
    if spins > SPINS:
        time.sleep(PAUSE if spins < 4 * SPINS else 4 * PAUSE)
    elif hasattr(os, "sched_yield"):
        os.sched_yield()


class Failed(Exception):
    """A rank's function has raised: what the learner is told about it, a kind and a text."""


class World:
    """What the tests of one process have in common. explain: makes (kind, text) of an exception."""

    def __init__(self, post, explain):
        self.post, self.explain, self.runs = post, explain, itertools.count()

    def ranks(self, size):
        """The fixture `ranks` of the tests."""
        return Ranks(self, size)


class Ranks:
    """The first `size` processes; `log` holds, for each rank, the log of its Comm."""

    def __init__(self, world, size):
        if size > world.post.size:
            raise ValueError(f"a test asks for {size} ranks, {world.post.size} were started")
        self.world, self.size, self.log = world, size, []

    def run(self, function):
        """Call function(comm) on each rank, and return the results by rank. Failed, or Stuck, if one of them raises."""
        post, run = self.world.post, next(self.world.runs)
        told = None
        if post.rank < self.size:
            comm = ProcessComm(post, self.size, run)
            told = self._outcome(comm, function)
            for other in range(post.size):
                if other != post.rank:
                    post.send(other, ("done", run), told)
        outcomes = self._outcomes(told, run)
        self.log = [log for _, _, log in outcomes]
        raise_first([failure for _, failure, _ in outcomes])
        return [pickle.loads(result) for result, _, _ in outcomes]

    def _outcome(self, comm, function):
        """(the pickled result, what went wrong or None, the log) of this rank."""
        try:
            return pickle.dumps(function(comm)), None, comm.log
        except Stuck as stuck:
            return b"", ("stuck", str(stuck)), comm.log
        except BaseException as error:  # noqa: BLE001  whatever a learner's code raises is told
            return b"", self.world.explain(error), comm.log

    def _outcomes(self, mine, run):
        """The outcomes of all ranks. Meanwhile, tell those who ask that this rank has ended."""
        post, label, found = self.world.post, ("done", run), {}
        if mine is not None:
            found[post.rank] = mine
        for spins in itertools.count():
            post.collect()
            answer(post, self.size, run, "has ended")
            for rank in range(self.size):
                if rank not in found and post.has(rank, label):
                    found[rank] = post.fetch(rank, label)
            if len(found) == self.size:
                return [found[rank] for rank in range(self.size)]
            pause(spins)


def raise_first(failures):
    """The failure of the lowest rank; one that is not a consequence of the others' if there is one."""
    told = [(rank, *failure) for rank, failure in enumerate(failures) if failure is not None]
    own = [(rank, kind, text) for rank, kind, text in told if kind != "stuck"]
    if own:
        rank, kind, text = own[0]
        raise Failed(kind, text if len(own) == len(failures) else f"rank {rank}: {text}")
    if told:
        raise Stuck(told[0][2])


def answer(post, size, run, place):
    """Tell all who have asked where this rank is, and what it has sent and received."""
    for other in range(size):
        while post.has(other, ("where?", run)):
            number = post.fetch(other, ("where?", run))
            post.send(other, ("there", run, number), (place, post.counts.get(run, [0, 0])))


class ProcessComm(Comm):
    """The Comm of a rank that is a process. All its messages carry the number of the run."""

    def __init__(self, post, size, run):
        super().__init__(post.rank, size)
        self.post, self.run, self.stuck = post, run, ""
        self.sent, self.taken, self.confirmed = [0] * size, [0] * size, [0] * size
        self.questions = itertools.count()

    # ---- what Comm needs ----

    def begin_to_send(self, to, values):
        number = self.sent[to]
        self.sent[to] += 1
        self.post.send(to, ("values", self.run), values, self.run)
        return number

    def wait_until_received(self, to, number):
        def was_received():
            while self.post.has(to, ("taken", self.run)):
                self.confirmed[to] = self.post.fetch(to, ("taken", self.run))
            return self.confirmed[to] > number

        self.wait(f"waits in send to rank {to}", was_received)

    def recv(self, source):
        """Wait for a list from a rank, and return it."""
        label = "values", self.run
        self.wait(f"waits in recv from rank {source}", lambda: self.post.has(source, label))
        self.taken[source] += 1
        self.post.send(source, ("taken", self.run), self.taken[source], self.run)
        return self.post.fetch(source, label)

    def exchange(self, number, said, value):
        label, table = ("meet", self.run, number), {self.rank: (said, value)}
        for other in range(self.size):
            if other != self.rank:
                self.post.send(other, label, (said, value), self.run)

        def all_have_come():
            for other in range(self.size):
                if other not in table and self.post.has(other, label):
                    table[other] = self.post.fetch(other, label)
            return len(table) == self.size

        self.wait(f"waits in {said}, its collective {number}", all_have_come)
        if len({other for other, _ in table.values()}) > 1:
            raise Stuck(different({rank: other for rank, (other, _) in table.items()}))
        return [table[rank][1] for rank in range(self.size)]

    # ---- waiting ----

    def wait(self, place, is_true):
        """Wait until is_true(); Stuck if that can never be."""
        before, asks_at = None, time.monotonic() + ASKS_AFTER
        for spins in itertools.count():
            self.post.collect()
            if is_true():
                return
            self.hear_verdict()
            answer(self.post, self.size, self.run, place)
            if time.monotonic() > asks_at:
                now = self.ask(place, is_true)
                if now is not None and now == before and nothing_under_way(now):
                    self.give_verdict(all_wait({rank: there for rank, (there, _) in now.items()}))
                before, asks_at = now, time.monotonic() + ASKS_AFTER
            pause(spins)

    def ask(self, place, is_true):
        """{rank: (where it waits, its counts)}; None if somebody does not answer, since it is at work."""
        number = next(self.questions)
        others = [rank for rank in range(self.size) if rank != self.rank]
        for rank in others:
            self.post.send(rank, ("where?", self.run), number)
        label, deadline = ("there", self.run, number), time.monotonic() + 2 * ASKS_AFTER
        for spins in itertools.count():
            self.post.collect()
            if is_true() or time.monotonic() > deadline:
                return None
            answer(self.post, self.size, self.run, place)
            if all(self.post.has(rank, label) for rank in others):
                found = {rank: self.post.fetch(rank, label) for rank in others}
                return {**found, self.rank: (place, list(self.post.counts.get(self.run, [0, 0])))}
            pause(spins)

    def hear_verdict(self):
        for other in range(self.size):
            if self.post.has(other, ("verdict", self.run)):
                raise Stuck(self.post.boxes[other, ("verdict", self.run)][0])

    def give_verdict(self, text):
        """Tell all that nobody can go on: each would find out by itself, but not while others leave."""
        for other in range(self.size):
            if other != self.rank:
                self.post.send(other, ("verdict", self.run), text)
        raise Stuck(text)


def nothing_under_way(places):
    """Whether as many messages have come as were sent."""
    sent, come = (sum(counts[which] for _, counts in places.values()) for which in (0, 1))
    return sent == come
