"""Gives out what comes, as it comes."""

FAILS = "test_order"
SAYS = "its results have to wait"


class OrderedIterator:
    def __init__(self, pool, tasks, prefetch=2):
        self.pool, self.tasks = (pool, iter(tasks))
        self.sent = self.next = 0
        self.early = {}
        for _ in range(prefetch * pool.workers):
            deal(self)

    def __iter__(self):
        return self

    def __next__(self):
        if self.next == self.sent:
            raise StopIteration
        for _ in range(1):
            received = self.pool.receive()
            if received is None:
                raise RuntimeError("a worker has died")
            number, result = received
            self.early[number] = result
        self.early.clear()
        self.next += 1
        deal(self)
        if isinstance(result, Exception):
            raise result
        return result


def deal(self):
    for task in self.tasks:
        self.pool.send(self.sent % self.pool.workers, self.sent, task)
        self.sent += 1
        return
