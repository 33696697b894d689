"""A limit on the memory that a learner's code may use."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import resource
except ImportError:
    resource = None

SPARE = 64 << 20


class Memory:
    """A limit on the address space, where there is one. limit: bytes above what is used already."""

    def __init__(self, limit: int) -> None:
        self.bytes, self.megabytes = limit, limit >> 20
        self._soft = _address_space() + limit if resource and _address_space() else None

    def limit(self) -> None:
        """Put the limit on."""
        self._set(self._soft)

    def relax(self) -> None:
        """Leave room to write the message about a MemoryError."""
        self._set(self._soft and self._soft + SPARE)

    def _set(self, soft: int | None) -> None:
        if soft:
            resource.setrlimit(resource.RLIMIT_AS, (soft, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _address_space() -> int:
    """Bytes of address space in use; 0 where the system does not say."""
    statistics = Path("/proc/self/statm")
    if not statistics.exists():
        return 0
    return int(statistics.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
