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
        raise NotImplementedError

    def __iter__(self):
        return self

    def __next__(self):
        """The result of the next task. StopIteration after the last."""
        raise NotImplementedError
