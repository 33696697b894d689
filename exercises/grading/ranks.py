"""Ranks for exercises about many processes: what a learner's function gets as `comm`, and who runs it.

    results = Ranks(3).run(lambda comm: comm.all_reduce([comm.rank]))        # [[3], [3], [3]]

A test asks for the fixture `ranks`. Where MPI is installed the grader runs such a test in processes
(`processes.py`); here are ranks on threads, which are used where it is not. Both notice when all wait for
each other.
"""

import threading

from exercises.grading.compare import Mismatch


class Stuck(Mismatch):
    """All ranks wait, and none can go on; or they are not in the same collective."""


ALL_WAIT = "all ranks wait for each other, and none can go on: "
DIFFERENT = "the ranks' collectives do not match, they are in different collectives: "


class Request:
    """A send that has begun."""

    def __init__(self, comm, to, number):
        self.comm, self.to, self.number = comm, to, number

    def wait(self):
        """Wait until it was received."""
        self.comm.wait_until_received(self.to, self.number)


class Comm:
    """What a rank has to speak with the others: its `rank` and the `size`. All values are lists of numbers.

    `log`: what this rank did: ("send", to, how many numbers), ("all_reduce", how many)...
    """

    def __init__(self, rank, size):
        self.rank, self.size, self.log, self.count = rank, size, [], 0

    def __repr__(self):
        return "comm"

    # one to one

    def isend(self, to, values):
        """Begin to send a list; returns at once a Request, whose wait() returns when it was received."""
        self.log.append(("send", to, len(values)))
        return Request(self, to, self.begin_to_send(to, list(values)))

    def send(self, to, values):
        """Send a list, and wait until it was received."""
        self.isend(to, values).wait()

    # all together

    def all_reduce(self, values, op=sum):
        """The sums (or op=max) over all ranks, number by number, as a new list."""
        of_all = self.meet("all_reduce", list(values), len(values))
        return [op(column) for column in zip(*of_all, strict=True)]

    def broadcast(self, values, source):
        """The list of rank `source`; what the others pass does not matter."""
        return list(self.meet("broadcast", list(values) if self.rank == source else None, source)[source])

    def all_gather(self, value):
        """A list with what each rank passed, by rank."""
        return list(self.meet("all_gather", value, None))

    def meet(self, name, value, detail):
        """What all ranks brought to the same collective, by rank."""
        number = self.count
        self.count += 1
        self.log.append((name, detail))
        said = name if detail is None else f"{name}({'of' if name == 'all_reduce' else 'from rank'} {detail})"
        return self.exchange(number, said, value)


def different(said):
    """The sentence about ranks that are in different collectives. said: {rank: collective}."""
    return DIFFERENT + ", ".join(f"rank {rank} in {other}" for rank, other in sorted(said.items()))


# ---- on threads ----------------------------------------------------------------------------------


class Ranks:
    """`size` ranks on threads; `log` holds, for each rank, the log of its Comm."""

    def __init__(self, size):
        self.size, self.log = size, []
        self.changed, self.waiting, self.alive, self.stuck = threading.Condition(), {}, size, None
        self.meetings, self.boxes = {}, {}

    def run(self, function):
        """Call function(comm) on each rank, and return the results by rank; the first error of any rank is raised."""
        results, errors = [None] * self.size, []
        comms = [ThreadComm(self, rank) for rank in range(self.size)]
        self.log = [comm.log for comm in comms]

        def work(comm):
            try:
                results[comm.rank] = function(comm)
            except BaseException as error:  # noqa: BLE001  it is raised again, below
                errors.append(error)
            finally:
                self.leave()

        threads = [threading.Thread(target=work, args=(comm,), daemon=True) for comm in comms]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise next((error for error in errors if not isinstance(error, Stuck)), errors[0])
        return results

    def leave(self):
        with self.changed:
            self.alive -= 1
            self.look()

    def wait(self, rank, what, is_true):
        """Wait, with the lock held, until is_true(); Stuck if that can never be."""
        self.waiting[rank] = (what, is_true)
        self.look()
        while not is_true() and not self.stuck:
            self.changed.wait()
        del self.waiting[rank]
        if self.stuck and not is_true():
            raise Stuck(self.stuck)

    def look(self):
        """Whether all that are left wait for something that is not there."""
        if (
            not self.stuck
            and self.waiting
            and len(self.waiting) == self.alive
            and not any(true() for _, true in self.waiting.values())
        ):
            places = {rank: f"waits in {what}" for rank, (what, _) in self.waiting.items()}
            gone = {rank: "has ended" for rank in range(self.size) if rank not in self.waiting}
            self.stuck = all_wait({**places, **gone})
        self.changed.notify_all()


def all_wait(places):
    """The sentence about ranks of which none can go on. places: {rank: where it is}."""
    return ALL_WAIT + "; ".join(f"rank {rank} {place}" for rank, place in sorted(places.items()))


class ThreadComm(Comm):
    """The Comm of a rank on a thread."""

    def __init__(self, ranks, rank):
        super().__init__(rank, ranks.size)
        self.ranks = ranks

    def begin_to_send(self, to, values):
        with self.ranks.changed:
            box = self.ranks.boxes.setdefault((self.rank, to), [0, []])
            box[1].append(values)
            self.ranks.look()
            return box[0] + len(box[1]) - 1

    def wait_until_received(self, to, number):
        ranks, key = self.ranks, (self.rank, to)
        with ranks.changed:
            ranks.wait(self.rank, f"send to rank {to}", lambda: ranks.boxes[key][0] > number)

    def recv(self, source):
        """Wait for a list from a rank, and return it."""
        box = self.ranks.boxes.setdefault((source, self.rank), [0, []])
        with self.ranks.changed:
            self.ranks.wait(self.rank, f"recv from rank {source}", lambda: box[1])
            box[0] += 1
            received = box[1].pop(0)
            self.ranks.look()
        return received

    def exchange(self, number, said, value):
        ranks = self.ranks
        with ranks.changed:
            table = ranks.meetings.setdefault(number, {})
            table[self.rank] = (said, value)
            if len({other for other, _ in table.values()}) > 1:
                ranks.stuck = different({rank: other for rank, (other, _) in table.items()})
            ranks.wait(
                self.rank,
                f"{said}, its collective {number}",
                lambda: len(table) == ranks.size and not ranks.stuck,
            )
            return [table[rank][1] for rank in range(ranks.size)]
