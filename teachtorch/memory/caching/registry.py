"""Which allocator serves which device."""

_allocators = {}  # (device type, index) -> CachingAllocator


def register_allocator(allocator, device_type=None):
    """Make an allocator known as its device's; it replaces an earlier one of the same device."""
    _allocators[device_type or allocator.device_type, allocator.device_index] = allocator


def allocator_of(device):
    """The allocator of a device (anything with `type` and `index`; no index is 0). RuntimeError if it has none."""
    found = _allocators.get((device.type, device.index or 0))
    if found is None:
        raise RuntimeError(f"Allocator not initialized for device {device}: did you call init?")
    return found


def allocators(device_type=None):
    """All registered allocators, of one type if named, by device index."""
    chosen = [(key, one) for key, one in _allocators.items() if device_type in (None, key[0])]
    return [one for _, one in sorted(chosen, key=lambda pair: pair[0])]


def forget_allocators(device_type):
    """Undo register_allocator for all devices of a type."""
    for key in [key for key in _allocators if key[0] == device_type]:
        del _allocators[key]
