"""A timeline of host and device: who waits for whom.

The host runs the program and *launches* kernels; the device runs them later, one after another, in the
order of their launches. A launch costs the host some time, and then the host goes on without waiting:

    host     |launch A|launch B|launch C|
    device            |----- A -----|----- B -----|----- C -----|

A kernel begins when its launch is over and the kernel before it has ended. At a synchronization (`.item()`,
`print`, `torch.cuda.synchronize()`) the host waits until the device has nothing left to do.

A queue is a list of items: a pair (launch, run) of two times, or the word "synchronize".
"""


def timeline(queue):
    """Return a list with one row for each kernel: (launch_begin, launch_end, run_begin, run_end).

    queue: a list of (launch, run) pairs and the word "synchronize"; both clocks begin at 0.
    """
    # solution
    rows, host, device = [], 0, 0
    for item in queue:
        if item == "synchronize":
            host = max(host, device)
            continue
        launch, run = item
        begin = max(host + launch, device)
        rows.append((host, host + launch, begin, begin + run))
        host, device = host + launch, begin + run
    return rows
    # end of solution


def total_time(queue):
    """Return the time at which both host and device are done; 0 for an empty queue.

    queue: as for `timeline`.
    """
    # solution
    rows = timeline(queue)
    return max(rows[-1][1], rows[-1][3]) if rows else 0
    # end of solution


def device_idle(queue):
    """Return for how long the device had nothing to run, before its last kernel ended.

    queue: as for `timeline`. The time before the first kernel counts too.
    """
    # solution
    rows = timeline(queue)
    busy = sum(end - begin for _, _, begin, end in rows)
    return rows[-1][3] - busy if rows else 0
    # end of solution
