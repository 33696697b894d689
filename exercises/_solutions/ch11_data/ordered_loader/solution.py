"""Batches of several workers, in the order of the tasks.

A DataLoader deals tasks to worker processes, and gives out their results in the order of the tasks, whoever
is quicker. The workers here are played by a pool:

    pool.workers                       how many there are
    pool.send(worker, number, task)    puts a task into that worker's own queue; returns at once
    pool.receive()                     waits for whichever worker finishes next, and returns (number, result);
                                       None when a worker has died: nothing more will come from it

A result may be an exception: the worker met it in fetching that batch.
"""


class OrderedIterator:
    """Iterates over the results of tasks, in the tasks' order.

    - At the start it deals prefetch * workers tasks, and for each result that it gives out one more.
    - Task k goes to worker k modulo the number of workers.
    - A result that comes before its turn is kept.
    - A result that is an exception is raised, when its turn has come; the next call goes on with the next
      task.
    - When a worker has died: RuntimeError.
    """

    def __init__(self, pool, tasks, prefetch=2):
        """Deal the first tasks.

        tasks: an iterable, which may be long; only what is dealt is taken from it.
        """
        # solution
        self.pool, self.tasks = pool, iter(tasks)
        self.sent = self.next = 0
        self.early = {}
        for _ in range(prefetch * pool.workers):
            deal(self)
        # end of solution

    def __iter__(self):
        return self

    def __next__(self):
        """The result of the next task. StopIteration after the last."""
        # solution
        if self.next == self.sent:
            raise StopIteration
        while self.next not in self.early:
            received = self.pool.receive()
            if received is None:
                raise RuntimeError("a worker has died")
            number, result = received
            self.early[number] = result
        result = self.early.pop(self.next)
        self.next += 1
        deal(self)
        if isinstance(result, Exception):
            raise result
        return result
        # end of solution


# solution
def deal(self):
    """The next task, if there is one, to the worker whose turn it is."""
    for task in self.tasks:
        self.pool.send(self.sent % self.pool.workers, self.sent, task)
        self.sent += 1
        return


# end of solution
