"""What the memory makes of one instruction of a warp: pieces of 32 bytes of device memory, banks of shared
memory. https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/
"""

from collections import defaultdict

import numpy as np

WARP = 32  # threads that march together
PIECE = 32  # bytes that one transaction of device memory brings
BANKS, WORD = 32, 4  # of shared memory: neighbouring words lie in neighbouring banks


def instructions(run):
    """For each line of the kernel that touches an array: the worst of its executions by the first warp.

    A list of dicts: array, does, line, lanes, is_shared; `touched`: {piece or bank: words or lanes in it};
    `cost`: transactions; `least`: how many there would be at best.
    """
    executions = defaultdict(list)
    turn = defaultdict(int)
    for access in run.accesses:
        if access.block == 0 and access.thread < WARP:
            site = access.array, access.does, access.line
            turn[site, access.thread] += 1
            executions[site, turn[site, access.thread]].append(access)
    worst = {}
    for (site, _), accesses in executions.items():
        found = judged(run.arrays[site[0]], accesses)
        if site not in worst or found["cost"] / found["least"] > worst[site]["cost"] / worst[site]["least"]:
            worst[site] = {"array": site[0], "does": site[1], "line": site[2], "lanes": len(accesses), **found}
    return sorted(worst.values(), key=lambda each: (each["line"], each["does"], each["array"]))


def judged(seen, accesses):
    addresses = sorted({int(np.ravel_multi_index(a.place, seen.shape)) * seen.dtype.itemsize for a in accesses})
    if seen.is_shared:
        touched = defaultdict(int)
        for word in sorted({address // WORD for address in addresses}):
            touched[word % BANKS] += 1
        return {"is_shared": True, "touched": dict(touched), "cost": max(touched.values()), "least": 1}
    touched = defaultdict(int)
    for address in addresses:
        touched[address // PIECE] += 1
    least = -(-len(addresses) * seen.dtype.itemsize // PIECE)
    return {"is_shared": False, "touched": dict(touched), "cost": len(touched), "least": least}


def verdict(found):
    """One sentence of what it costs."""
    threads = f"{found['lanes']} thread{'s' * (found['lanes'] != 1)}"
    if found["is_shared"]:
        if found["cost"] == 1:
            return f"{threads}, no two words in one bank: one turn"
        return f"{threads}, {found['cost']} words in one bank: {found['cost']} turns"
    pieces = f"{found['cost']} piece{'s' * (found['cost'] != 1)} of {PIECE} bytes"
    best = "the least" if found["cost"] == found["least"] else f"{found['least']} would do"
    return f"{threads}, {pieces}: {best}"
