"""The table of memory_summary(): the allocator's counters for people, as torch.cuda.memory_summary prints them."""

SIZES = [
    ("allocated_bytes", "Allocated memory"),
    ("active_bytes", "Active memory"),
    ("requested_bytes", "Requested memory"),
    ("reserved_bytes", "GPU reserved memory"),
    ("inactive_split_bytes", "Non-releasable memory"),
]
COUNTS = [
    ("allocation", "Allocations"),
    ("active", "Active allocs"),
    ("segment", "GPU reserved segments"),
    ("inactive_split", "Non-releasable allocs"),
]
OVERSIZE = [("oversize_allocations", "Oversize allocations"), ("oversize_segments", "Oversize GPU segments")]
COLUMNS = ("current", "peak", "allocated", "freed")
WIDTH = 75


def summary(stats, device_index, abbreviated):
    """The table as text; `stats` has flat keys, `abbreviated` leaves the rows of the pools out."""
    lines = heading(stats, device_index)
    groups = [("all", None)]
    if not abbreviated:
        groups += [("large_pool", "      from large pool"), ("small_pool", "      from small pool")]
    for families, format_number in ((SIZES, size_text), (COUNTS, count_text)):
        for family, title in families:
            lines.append("-" * WIDTH)
            lines += [
                row(stats, f"{family}.{group}", f"{family}.all", name or title, format_number) for group, name in groups
            ]
    for family, title in OVERSIZE:
        lines += ["-" * WIDTH, row(stats, family, family, title, count_text)]
    lines.append("=" * WIDTH)
    return "|" + "|\n|".join(lines) + "|\n"


def heading(stats, device_index):
    return [
        "=" * WIDTH,
        f" {'':16} PyTorch CUDA memory summary, device ID {device_index:<17d} ",
        "-" * WIDTH,
        f"  {'':9} CUDA OOMs: {stats['num_ooms']:<12d} | {'':6} cudaMalloc retries: {stats['num_alloc_retries']:<8d}  ",
        "=" * WIDTH,
        "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ",
    ]


def row(stats, prefix, unit_prefix, title, format_number):
    """One line; the units of a column are chosen by the row of all pools, so that its three rows compare."""
    cells = [format_number(stats[f"{prefix}.{column}"], stats[f"{unit_prefix}.{column}"]) for column in COLUMNS]
    return f" {title:<21} | " + " | ".join(cells) + " "


def size_text(nbytes, for_unit):
    return scaled(nbytes, for_unit, 1024, 768 * 1024, ["B  ", "KiB", "MiB", "GiB", "TiB", "PiB"], 6)


def count_text(number, for_unit):
    return scaled(number, for_unit, 1000, 750 * 1000, [" ", "K", "M"], 7) + " "


def scaled(number, for_unit, base, limit, units, width):
    """A number in the largest unit in which `for_unit` stays above the limit."""
    unit = 0
    while unit + 1 < len(units) and for_unit >= limit:
        unit, number, for_unit = unit + 1, number // base, for_unit / base
    return f"{number:{width}d} {units[unit]}"
