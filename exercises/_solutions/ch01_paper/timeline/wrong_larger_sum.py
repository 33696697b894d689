"""Takes the larger of the two sums for the total."""

FAILS = "test_total"
SAYS = "cannot begin before the first launch"


def timeline(queue):
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


def total_time(queue):
    kernels = [item for item in queue if item != "synchronize"]
    return max(sum(launch for launch, _ in kernels), sum(run for _, run in kernels))


def device_idle(queue):
    rows = timeline(queue)
    busy = sum(end - begin for _, _, begin, end in rows)
    return rows[-1][3] - busy if rows else 0
