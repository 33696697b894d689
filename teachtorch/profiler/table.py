"""Events as a table of text, in PyTorch's columns."""
from math import floor, log10

UNITS = (("s", 1e6), ("ms", 1e3), ("us", 1.0))
FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
GAP = "  "


def time_text(us, unit=None):
    """Microseconds in the largest unit that gives a number of 1 or more: "1.234ms"."""
    name, size = next(u for u in UNITS if u[0] == unit or unit is None and (abs(us) >= u[1] or u[0] == "us"))
    return f"{us / size:.3f}{name}"


def memory_text(nbytes):
    """Bytes as PyTorch writes them: "1.50 KB", "12 B"."""
    for name, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {name}"
    return f"{nbytes} B"


def shortened(text, width):
    return text if width is None or len(text) <= width else text[:width - 3] + "..."


def table_of(rows, events, name_width, shapes_width, stack_width, header, unit):
    """The lines of a table, a head and a foot; no text for no events."""
    if not events:
        return ""
    columns = columns_for(rows, events, name_width, shapes_width, stack_width, unit)
    cells = [[title for title, _ in columns], *[[text(row) for _, text in columns] for row in rows]]
    widths = [max(12 if i else 8, *[len(line[i]) for line in cells]) for i in range(len(columns))]
    rule = GAP.join(["-" * width for width in widths]) + GAP
    titles, *texts = [aligned(line, widths) for line in cells]
    lines = [rule, titles, rule, *texts, rule]
    head = ["=" * len(rule), header] if header is not None else []
    return "\n".join([*head, *lines, *foot(events, unit), ""])


def foot(events, unit):
    """The sums under the table."""
    lines = [f"Self CPU time total: {time_text(events.self_cpu_time_total, unit)}"]
    if events.self_device_time_total:
        lines.append(f"Self SIM time total: {time_text(events.self_device_time_total, unit)}")
    return lines


def aligned(line, widths):
    return GAP.join([cell.rjust(width) for cell, width in zip(line, widths)]) + GAP


def columns_for(rows, events, name_width, shapes_width, stack_width, unit):
    """[(title, function from an event to its cell)]; columns stand there only if they were recorded."""
    columns = [("Name", lambda e: shortened(e.key, name_width))]
    columns += cpu_columns(events.self_cpu_time_total, unit)
    if events.self_device_time_total:
        columns += device_columns(events.self_device_time_total, unit)
    if events.profile_memory:
        columns += [("CPU Mem", lambda e: memory_text(e.cpu_memory_usage)),
                    ("Self CPU Mem", lambda e: memory_text(e.self_cpu_memory_usage))]
        if any([event.self_device_memory_usage > 0 for event in events]):
            columns += [("SIM Mem", lambda e: memory_text(e.device_memory_usage)),
                        ("Self SIM Mem", lambda e: memory_text(e.self_device_memory_usage))]
    columns.append(("# of Calls", lambda e: str(e.count)))
    if any([event.input_shapes for event in events]):
        columns.append(("Input Shapes", lambda e: shortened(str(e.input_shapes or []), shapes_width)))
    if any([event.stack for event in events]):
        columns.append(("Source Location", lambda e: shortened(e.stack[0] if e.stack else "", stack_width)))
    return columns + flops_columns(rows, events)


def share(part, total):
    return f"{part * 100 / total:.2f}%" if total else "0.00%"


def cpu_columns(total, unit):
    return [
        ("Self CPU %", lambda e: share(e.self_cpu_time_total, total)),
        ("Self CPU", lambda e: time_text(e.self_cpu_time_total, unit)),
        ("CPU total %", lambda e: share(e.cpu_time_total, total)),
        ("CPU total", lambda e: time_text(e.cpu_time_total, unit)),
        ("CPU time avg", lambda e: time_text(e.cpu_time, unit)),
    ]


def device_columns(total, unit):
    """As for CUDA in PyTorch, under the name of the simulated device."""
    return [
        ("Self SIM", lambda e: time_text(e.self_device_time_total, unit)),
        ("Self SIM %", lambda e: share(e.self_device_time_total, total)),
        ("SIM total", lambda e: time_text(e.device_time_total, unit)),
        ("SIM time avg", lambda e: time_text(e.device_time, unit)),
    ]


def flops_columns(rows, events):
    """All rows in the unit that suits the smallest."""
    counted = [row.flops for row in rows if row.flops > 0]
    if not (events.with_flops and counted):
        return []
    step = min(floor(log10(min(counted)) / 3), len(FLOPS) - 1)
    return [(f"Total {FLOPS[step]}", lambda e: f"{e.flops / 1000 ** step:.3f}" if e.flops > 0 else "--")]
