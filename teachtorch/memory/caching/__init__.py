"""The caching allocator (paper section 5.3): one for every device that offers memory and events.

    sizes.py       the three roundings              blocks.py      segments and blocks, splitting, absorbing
    pools.py       free blocks by stream and size   allocator.py   malloc, free, record_stream
    reclaim.py     what goes back to the device     expandable.py  segments that grow page by page
    counters.py    memory_stats                     history.py, snapshot.py   what _snapshot() shows
    alloc_conf.py  PYTORCH_ALLOC_CONF               errors.py      OutOfMemoryError
    registry.py    the allocator of a device
"""
from .alloc_conf import AllocatorSettings, parse_alloc_conf
from .allocator import CachingAllocator
from .blocks import Block, Segment
from .errors import OutOfMemoryError
from .registry import allocator_of, allocators, forget_allocators, register_allocator

__all__ = ["AllocatorSettings", "Block", "CachingAllocator", "OutOfMemoryError", "Segment", "allocator_of",
           "allocators", "forget_allocators", "parse_alloc_conf", "register_allocator"]
