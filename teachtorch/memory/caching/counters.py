"""Counters under PyTorch's keys: `allocated_bytes.all.peak`, `segment.small_pool.current`, ...

The docstring of torch.cuda.memory_stats calls the first family `allocated.`; the key is `allocation.`.
"""

from collections import OrderedDict

FAMILIES = (
    "allocation",
    "segment",
    "active",
    "inactive_split",
    "allocated_bytes",
    "reserved_bytes",
    "active_bytes",
    "inactive_split_bytes",
    "requested_bytes",
)
GROUPS = ("all", "small_pool", "large_pool")


class Stat:
    """A quantity that rises and falls: `current`, its `peak`, and all that ever fell (`freed`).

    What ever rose, `allocated`, is their sum: one addition less on the way of every malloc.
    """

    __slots__ = ("current", "peak", "freed", "forgotten")

    def __init__(self):
        self.current = self.peak = self.freed = 0
        self.forgotten = 0  # `allocated` at the last reset_accumulated

    def increase(self, amount):
        self.current += amount
        if self.current > self.peak:
            self.peak = self.current

    def decrease(self, amount):
        self.current -= amount
        self.freed += amount

    @property
    def allocated(self):
        return self.current + self.freed - self.forgotten

    def reset_peak(self):
        self.peak = self.current

    def reset_accumulated(self):
        self.freed, self.forgotten = 0, self.current

    def as_dict(self):
        return {"current": self.current, "peak": self.peak, "allocated": self.allocated, "freed": self.freed}


class Counters:
    """The nine families for one group of blocks: all of them, or those of one pool. Sizes in bytes."""

    __slots__ = (*FAMILIES, "_counts", "_sizes")

    def __init__(self):
        for family in FAMILIES:
            setattr(self, family, Stat())
        self._counts, self._sizes = (self.allocation, self.active), (self.allocated_bytes, self.active_bytes)

    def handed_out(self, size, requested):
        """Every malloc comes by here, twice: its five increases and the five decreases of free are written out."""
        for stat in self._counts:
            stat.current = now = stat.current + 1
            if now > stat.peak:
                stat.peak = now
        for stat in self._sizes:
            stat.current = now = stat.current + size
            if now > stat.peak:
                stat.peak = now
        self.requested_bytes.increase(requested)

    def given_back(self, size):
        """free() was called; other streams may still use the block, so it stays active."""
        count, nbytes = self.allocation, self.allocated_bytes
        count.current -= 1
        count.freed += 1
        nbytes.current -= size
        nbytes.freed += size

    def completed(self, size, requested):
        """The block can be handed out again."""
        count, nbytes = self.active, self.active_bytes
        count.current -= 1
        count.freed += 1
        nbytes.current -= size
        nbytes.freed += size
        self.requested_bytes.decrease(requested)

    def split_changed(self, blocks, nbytes):
        """Free blocks that cannot go back to the device, since they are parts of segments, changed by this much."""
        if blocks:
            change(self.inactive_split, blocks)
        change(self.inactive_split_bytes, nbytes)

    def segment_changed(self, segments, nbytes):
        """Memory was taken from the device, or given back (negative)."""
        if segments:
            change(self.segment, segments)
        change(self.reserved_bytes, nbytes)

    def each(self):
        return [getattr(self, family) for family in FAMILIES]


def change(stat, amount):
    """Increase or decrease a Stat, by the sign."""
    if amount > 0:
        stat.increase(amount)
    else:
        stat.decrease(-amount)


class DeviceCounters:
    """All counters of one device, and the few plain ones that belong to no pool."""

    def __init__(self):
        self.all, self.small_pool, self.large_pool = Counters(), Counters(), Counters()
        self.oversize_allocations, self.oversize_segments = Stat(), Stat()
        self.num_alloc_retries = self.num_ooms = self.num_sync_all_streams = 0
        self.num_device_alloc = self.num_device_free = 0

    def of_pool(self, is_small):
        """The two Counters that an event in a pool moves."""
        return (self.all, self.small_pool if is_small else self.large_pool)

    def each(self):
        groups = [stat for group in GROUPS for stat in getattr(self, group).each()]
        return groups + [self.oversize_allocations, self.oversize_segments]

    def reset_peak(self):
        for stat in self.each():
            stat.reset_peak()

    def reset_accumulated(self):
        for stat in self.each():
            stat.reset_accumulated()
        self.num_alloc_retries = self.num_ooms = self.num_sync_all_streams = 0
        self.num_device_alloc = self.num_device_free = 0

    def nested(self, max_split_size):
        """As torch.cuda.memory_stats_as_nested_dict: {family: {group: {current, peak, allocated, freed}}}."""
        result = {
            family: {group: getattr(getattr(self, group), family).as_dict() for group in GROUPS} for family in FAMILIES
        }
        result["oversize_allocations"] = self.oversize_allocations.as_dict()
        result["oversize_segments"] = self.oversize_segments.as_dict()
        result["max_split_size"] = max_split_size
        for name in ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free"):
            result[name] = getattr(self, name)
        return result


def flatten(nested, prefix=""):
    """{"a.b.c": number}, sorted by key, of nested dictionaries."""
    flat = {}
    for key, value in nested.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return OrderedDict(sorted(flat.items()))
