"""Ignores synchronizations."""

FAILS = "test_synchronize"
SAYS = "the host waits at the synchronization"


def timeline(queue):
    rows, host, device = [], 0, 0
    for item in queue:
        if item == "synchronize":
            continue
        launch, run = item
        begin = max(host + launch, device)
        rows.append((host, host + launch, begin, begin + run))
        host, device = host + launch, begin + run
    return rows


def total_time(queue):
    rows = timeline(queue)
    return max(rows[-1][1], rows[-1][3]) if rows else 0


def device_idle(queue):
    rows = timeline(queue)
    busy = sum(end - begin for _, _, begin, end in rows)
    return rows[-1][3] - busy if rows else 0
