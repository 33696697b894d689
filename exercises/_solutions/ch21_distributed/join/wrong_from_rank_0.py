"""The final weight is rank 0's."""

FAILS = "test_final_weight"
SAYS = "rank 1 was the last"


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
    weight, averages, was_last = 0.0, [], True
    for x in inputs:
        active = comm.all_reduce([1])[0]
        average = comm.all_reduce([x])[0] / (comm.size if divide_by_initial_world_size else active)
        averages.append(average)
        weight -= lr * average
    while comm.all_reduce([0])[0]:
        comm.all_reduce([0.0])
        was_last = False
    source = 0
    return averages, comm.broadcast([weight], source)[0]
