"""Deals more whenever it waits, as if memory had no end."""

FAILS = "test_prefetch"
SAYS = "would fill the memory"


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
        while self.next not in self.early:
            received = self.pool.receive()
            if received is None:
                raise RuntimeError("a worker has died")
            number, result = received
            self.early[number] = result
        deal(self)
        result = self.early.pop(self.next)
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
