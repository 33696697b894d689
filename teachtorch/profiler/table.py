"""Events as a table of text, in PyTorch's columns."""

UNITS = (("s", 1e6), ("ms", 1e3), ("us", 1.0))
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
    return text if len(text) <= width else text[:width - 3] + "..."


def table_of(rows, events, name_width, shapes_width, stack_width, header, unit):
    """The lines of a table, a head and a foot."""
    total = sum([event.self_cpu_time_total for event in events])
    columns = columns_for(rows, events, total, name_width, shapes_width, stack_width, unit)
    cells = [[title for title, _ in columns], *[[text(row) for _, text in columns] for row in rows]]
    widths = [max(12 if i else 8, *[len(line[i]) for line in cells]) for i in range(len(columns))]
    rule = GAP.join(["-" * width for width in widths]) + GAP
    lines = [rule, *[aligned(line, widths) for line in cells[:1]], rule, *[aligned(line, widths) for line in cells[1:]], rule]
    foot = f"Self CPU time total: {time_text(total, unit)}"
    return "\n".join([*([header] if header else []), *lines, foot, ""])


def aligned(line, widths):
    return GAP.join([cell.rjust(width) for cell, width in zip(line, widths)]) + GAP


def columns_for(rows, events, total, name_width, shapes_width, stack_width, unit):
    """[(title, function from an event to its cell)]; memory, shapes and stack only where they were recorded."""
    def share(us):
        return f"{us * 100 / total:.2f}%" if total else "0.00%"
    columns = [
        ("Name", lambda e: shortened(e.key, name_width)),
        ("Self CPU %", lambda e: share(e.self_cpu_time_total)),
        ("Self CPU", lambda e: time_text(e.self_cpu_time_total, unit)),
        ("CPU total %", lambda e: share(e.cpu_time_total)),
        ("CPU total", lambda e: time_text(e.cpu_time_total, unit)),
        ("CPU time avg", lambda e: time_text(e.cpu_time, unit)),
    ]
    if events.profile_memory:
        columns += [("CPU Mem", lambda e: memory_text(e.cpu_memory_usage)),
                    ("Self CPU Mem", lambda e: memory_text(e.self_cpu_memory_usage))]
    columns.append(("# of Calls", lambda e: str(e.count)))
    if any([row.input_shapes is not None for row in rows]):
        columns.append(("Input Shapes", lambda e: shortened(str(e.input_shapes or []), shapes_width)))
    if events.with_stack and any([row.stack for row in rows]):
        columns.append(("Source Location", lambda e: shortened(e.stack[0] if e.stack else "", stack_width)))
    return columns
