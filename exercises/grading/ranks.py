"""Ranks on threads, for exercises about many processes: a small communicator that notices when all wait for
each other.

    results = Ranks(3).run(lambda comm: comm.all_reduce([comm.rank]))        # [[3], [3], [3]]
"""

import threading


class Stuck(Exception):
    """All ranks wait, and none can go on; or they are not in the same collective."""


class Ranks:
    """`size` ranks; `log` holds, for each rank, what it did: ("send", to, how many numbers), ("all_reduce",
    how many)...
    """

    def __init__(self, size):
        self.size, self.log = size, [[] for _ in range(size)]
        self.changed, self.waiting, self.alive, self.stuck = threading.Condition(), {}, size, None
        self.meetings, self.boxes = {}, {}

    def run(self, function):
        """Call function(comm) on each rank, and return the results by rank; the first error of any rank is
        raised.
        """
        results, errors = [None] * self.size, []

        def work(rank):
            try:
                results[rank] = function(Comm(self, rank))
            except BaseException as error:  # noqa: BLE001  it is raised again, below
                errors.append(error)
            finally:
                self.leave()

        threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(self.size)]
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
            where = "; ".join(
                f"rank {rank} waits in {what}" for rank, (what, _) in sorted(self.waiting.items())
            )
            gone = [rank for rank in range(self.size) if rank not in self.waiting]
            self.stuck = where + (f"; {', '.join(f'rank {rank}' for rank in gone)} has ended" if gone else "")
        self.changed.notify_all()


class Request:
    """A send that has begun."""

    def __init__(self, comm, to, number):
        self.comm, self.to, self.number = comm, to, number

    def wait(self):
        """Wait until it was received."""
        ranks, key = self.comm.ranks, (self.comm.rank, self.to)
        with ranks.changed:
            ranks.wait(self.comm.rank, f"send to rank {self.to}", lambda: ranks.boxes[key][0] > self.number)


class Comm:
    """What a rank has to speak with the others: its `rank` and the `size`. All values are lists of
    numbers.
    """

    def __init__(self, ranks, rank):
        self.ranks, self.rank, self.size = ranks, rank, ranks.size
        self.count = 0

    # one to one

    def isend(self, to, values):
        """Begin to send a list; returns at once a Request, whose wait() returns when it was received."""
        with self.ranks.changed:
            box = self.ranks.boxes.setdefault((self.rank, to), [0, []])
            box[1].append(list(values))
            number = box[0] + len(box[1]) - 1
            self.ranks.log[self.rank].append(("send", to, len(values)))
            self.ranks.look()
        return Request(self, to, number)

    def send(self, to, values):
        """Send a list, and wait until it was received."""
        self.isend(to, values).wait()

    def recv(self, source):
        """Wait for a list from a rank, and return it."""
        box = self.ranks.boxes.setdefault((source, self.rank), [0, []])
        with self.ranks.changed:
            self.ranks.wait(self.rank, f"recv from rank {source}", lambda: box[1])
            box[0] += 1
            received = box[1].pop(0)
            self.ranks.look()
        return received

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
        """What all ranks brought to the same collective."""
        key, ranks = self.count, self.ranks
        self.count += 1
        said = name if detail is None else f"{name}({'of' if name == 'all_reduce' else 'from rank'} {detail})"
        with ranks.changed:
            ranks.log[self.rank].append((name, detail))
            table = ranks.meetings.setdefault(key, {})
            table[self.rank] = (said, value)
            names = {other for other, _ in table.values()}
            if len(names) > 1:
                ranks.stuck = "ranks are in different collectives: " + ", ".join(
                    f"rank {rank} in {other}" for rank, (other, _) in sorted(table.items())
                )
            ranks.wait(
                self.rank,
                f"{said}, its collective {key}",
                lambda: len(table) == ranks.size and not ranks.stuck,
            )
            return [table[rank][1] for rank in range(ranks.size)]
