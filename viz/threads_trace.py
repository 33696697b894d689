"""``viz.threads``: which thread of a launch touches which element, between which barriers, and what a warp's
addresses cost.
"""

import linecache
from collections import Counter, defaultdict

import numpy as np

from viz.picture import Picture
from viz.threads_record import Run
from viz.threads_warp import instructions, verdict
from viz.trace import Trace

SHOWN_BLOCKS, SHOWN_THREADS, SHOWN_ROWS, SHOWN_COLUMNS, SHOWN_PHASES = 8, 64, 16, 24, 10
LAST = "adds to", "writes", "reads"


def threads(kernel, blocks, threads, *arguments):
    """Run a CUDA kernel's Python function thread by thread and draw what each thread did. Nothing of yours changes.

    kernel: what ``cuda.jit`` made, or a plain function that says ``cuda``. blocks, threads: as in a launch,
    an int or (x, y). arguments: NumPy or device arrays, which are copied, and numbers. It may read its
    indices, shared and local arrays, barriers and ``atomic.add``; no GPU is needed.

    IndexError for an access outside an array, where a GPU would say nothing. ValueError for more than 4096
    threads.
    """
    return Picture(threads_trace(Run(kernel, blocks, threads, arguments)))


def threads_trace(run):
    """The trace of a run."""
    counts = [np.prod(run.blocks), np.prod(run.threads)]
    trace = Trace("threads", f"{run.function.__name__}: {said(counts[0], 'block')} of {said(counts[1], 'thread')}")
    trace.groups = [*block_groups(run), *array_groups(run), *phase_groups(run)]
    trace.nodes = [*thread_nodes(run), *cell_nodes(run), *work_nodes(run), *warp_nodes(run)]
    trace.notes = notes(run)
    trace.options = {"threads": list(run.threads), "hint": "Step from barrier to barrier."}
    trace.steps = steps(trace, run)
    return trace


def said(count, word):
    return f"{count} {word}" + ("" if count == 1 else "s")


# ---- the launch --------------------------------------------------------------------------------------------


def block_groups(run):
    x, y, _ = run.blocks
    count = min(int(np.prod(run.blocks)), SHOWN_BLOCKS)
    many = y > 1
    return [
        {"id": f"b{n}", "kind": "block", "label": f"block ({n % x}, {n // x % y})" if many else f"block {n}"}
        for n in range(count)
    ]


def thread_nodes(run):
    """One node per thread: masked if it touched nothing of device memory."""
    touched = Counter((a.block, a.thread) for a in run.accesses if not run.arrays[a.array].is_shared)
    count = min(int(np.prod(run.threads)), SHOWN_THREADS)
    return [
        {
            "id": f"b{block}t{thread}",
            "kind": "thread" if touched[block, thread] else "masked",
            "block": block,
            "number": thread,
            "label": str(thread),
        }
        for block in range(min(int(np.prod(run.blocks)), SHOWN_BLOCKS))
        for thread in range(count)
    ]


# ---- arrays ------------------------------------------------------------------------------------------------


def array_groups(run):
    return [
        {
            "id": f"a{n}",
            "kind": "shared" if seen.is_shared else "array",
            "label": f"{name} {list(seen.shape)}" + (" shared, of block 0" if seen.is_shared else ""),
            "rows": rows_of(seen),
            "columns": min(columns_of(seen), SHOWN_COLUMNS),
        }
        for n, (name, seen) in enumerate(run.arrays.items())
    ]


def columns_of(seen):
    return seen.shape[-1] if seen.shape else 1


def rows_of(seen):
    return min(max(seen.size // max(columns_of(seen), 1), 1), SHOWN_ROWS)


def cell_nodes(run):
    """One node per element: who changed it last, else how often it was read."""
    by_place = defaultdict(list)
    for access in run.accesses:
        if not run.arrays[access.array].is_shared or access.block == 0:
            by_place[access.array, access.place].append(access)
    nodes = []
    for number, (name, seen) in enumerate(run.arrays.items()):
        columns = columns_of(seen)
        for flat in range(rows_of(seen) * columns if seen.size else 0):
            row, column = divmod(flat, columns)
            if column < SHOWN_COLUMNS:
                place = tuple(int(i) for i in np.unravel_index(flat, seen.shape))
                nodes.append(cell(number, name, row, column, place, by_place[name, place]))
    return nodes


def cell(number, name, row, column, place, accesses):
    changes = [a for a in accesses if a.does != "read"]
    node = {"id": f"a{number}r{row}c{column}", "array": number, "row": row, "column": column}
    spot = f"{name}[{', '.join(map(str, place))}]"
    if changes:
        last = changes[-1]
        return node | {
            "kind": "changed",
            "block": last.block,
            "label": str(last.thread),
            "about": f"{spot}: {'written' if last.does == 'write' else 'added to'} by thread {last.thread} "
            f"of block {last.block}, {said(len(accesses) - len(changes), 'read')}",
        }
    if accesses:
        return node | {"kind": "read", "label": f"{len(accesses)}×", "about": f"{spot}: {said(len(accesses), 'read')}"}
    return node | {"kind": "untouched", "label": "", "about": f"{spot}: nobody"}


# ---- time --------------------------------------------------------------------------------------------------


def phase_groups(run):
    """The stretches between the barriers of block 0."""
    if not run.barriers:
        return []
    shown = run.barriers[: SHOWN_PHASES - 1]
    ends = [f"to the barrier\nin line {line_number(run, line)}" for line in shown]
    return [
        {"id": f"p{n}", "kind": "phase", "label": label}
        for n, label in enumerate([*ends, "to the end" if len(shown) == len(run.barriers) else "..."])
    ]


def line_number(run, line):
    """Counted from the kernel's `def`, since nobody sees the numbers of a notebook's cell."""
    return line - run.function.__code__.co_firstlineno


def work_nodes(run):
    """What each thread of block 0 did between two barriers."""
    if not run.barriers:
        return []
    done = defaultdict(Counter)
    for access in run.accesses:
        if access.block == 0:
            done[access.thread, access.phase][access.does, access.array] += 1
    phases = min(len(run.barriers) + 1, SHOWN_PHASES)
    return [
        {
            "id": f"w{phase}t{thread}",
            "kind": "work" if done[thread, phase] else "idle",
            "row": thread,
            "column": phase,
            "label": work_label(done[thread, phase]),
        }
        for thread in range(min(int(np.prod(run.threads)), 16))
        for phase in range(phases)
    ]


def work_label(counts):
    reads = sum(n for (does, _), n in counts.items() if does == "read")
    changes = sum(n for (does, _), n in counts.items() if does != "read")
    return " ".join(part for part in (f"{reads}r" if reads else "", f"{changes}w" if changes else "") if part)


# ---- a warp ------------------------------------------------------------------------------------------------


def warp_nodes(run):
    return [
        {
            "id": f"i{n}",
            "kind": "good" if found["cost"] == found["least"] else "costly",
            "does": f"{found['does']} {found['array']}",
            "line": source_line(run, found["line"]),
            "label": verdict(found),
            "shared": found["is_shared"],
            "touched": sorted(found["touched"].items()),
        }
        for n, found in enumerate(instructions(run))
    ]


def source_line(run, line):
    return linecache.getline(run.function.__code__.co_filename, line).strip()


# ---- words -------------------------------------------------------------------------------------------------


def notes(run):
    total = int(np.prod(run.blocks) * np.prod(run.threads))
    active = {(a.block, a.thread) for a in run.accesses if not run.arrays[a.array].is_shared}
    found = []
    if len(active) < total:
        found.append(f"{said(total - len(active), 'thread')} of {total} touched no element: what the guard keeps out.")
    device = [a for a in run.accesses if not run.arrays[a.array].is_shared]
    reads = Counter(a.array for a in device if a.does == "read")
    if reads:
        words = ", ".join(f"{n} of {name} ({run.arrays[name].size} elements)" for name, n in reads.items())
        found.append(f"Reads of device memory: {words}.")
    blocks, threads = int(np.prod(run.blocks)), int(np.prod(run.threads))
    if blocks > SHOWN_BLOCKS or threads > SHOWN_THREADS:
        found.append(f"Showing {SHOWN_BLOCKS} blocks and {SHOWN_THREADS} threads of each at most.")
    if any(rows_of(s) * columns_of(s) < s.size or columns_of(s) > SHOWN_COLUMNS for s in run.arrays.values()):
        found.append(f"Showing {SHOWN_ROWS} rows and {SHOWN_COLUMNS} columns of an array at most.")
    return found


def steps(trace, run):
    """From barrier to barrier: the elements that block 0 changes, appearing."""
    phases = [group for group in trace.groups if group["kind"] == "phase"]
    ids = {(n["array"], n["row"], n["column"]): n["id"] for n in trace.nodes if n["id"].startswith("a")}
    numbers = {name: n for n, name in enumerate(run.arrays)}
    when = {}
    for access in run.accesses:
        if access.block == 0 and access.does != "read":
            seen = run.arrays[access.array]
            row, column = divmod(int(np.ravel_multi_index(access.place, seen.shape)), columns_of(seen))
            key = ids.get((numbers[access.array], row, column))
            if key is not None:
                when.setdefault(key, set()).add(access.phase)
    if not phases or not when:
        return []
    hidden = {key: {"state": "later"} for key in when}
    found = [{"ids": [], "msg": "Block 0 begins.", "set": hidden}]
    for phase, group in enumerate(phases):
        changed = [key for key, moments in when.items() if phase in moments]
        msg = f"{group['label'].replace(chr(10), ' ').capitalize()}: {changes_said(run, phase)}."
        found.append({"ids": changed, "set": {key: {"state": "shown"} for key in changed}, "msg": msg})
    return found


def changes_said(run, phase):
    counts = Counter((a.does, a.array) for a in run.accesses if a.block == 0 and a.phase == phase)
    if not counts:
        return "nothing"
    words = {"read": "reads of", "write": "writes to", "add": "additions to"}
    return ", ".join(f"{n} {words[does]} {name}" for (does, name), n in counts.items())
