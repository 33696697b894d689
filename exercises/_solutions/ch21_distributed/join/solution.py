"""Join: training with uneven inputs, so that nobody hangs.

Each rank runs your function with a communicator `comm` of its own:

    comm.rank, comm.size
    comm.all_reduce(values)             the sums over all ranks, as a new list; op=max for the largest
    comm.broadcast(values, source)      the list of rank `source`
    comm.all_gather(value)              [what each rank passed]

All ranks must make the same collectives in the same order, with lists of the same length. The ranks are
processes, which MPI brings together. If all of them wait for each other, this communicator notices and says
where; MPI itself would wait for ever.
"""


def train(comm, inputs, lr, divide_by_initial_world_size=True):
    """Train one weight, which begins at 0.0, on this rank's inputs; return (gradients, final weight).

    The gradient of an input x is x itself. Every iteration makes two collectives: an all-reduce that counts
    the ranks still at work, and an all-reduce of the gradients. The average is their sum divided by all
    ranks, or, if divide_by_initial_world_size is False, by the ranks still at work. Then weight = weight - lr
    * average.

    A rank whose inputs are used up goes on with the collectives, contributing zeros, until no rank is at
    work; it does not change its weight meanwhile. In the end all ranks take the weight of a rank that was at
    work to the last: of the highest one.

    gradients: the averages of the iterations in which this rank had inputs.
    """
    # solution
    weight, averages, was_last = 0.0, [], True
    for x in inputs:
        active = comm.all_reduce([1])[0]
        average = comm.all_reduce([x])[0] / (comm.size if divide_by_initial_world_size else active)
        averages.append(average)
        weight -= lr * average
    while comm.all_reduce([0])[0]:
        comm.all_reduce([0.0])
        was_last = False
    source = comm.all_reduce([comm.rank if was_last else -1], op=max)[0]
    return averages, comm.broadcast([weight], source)[0]
    # end of solution
