"""A device with no memory at all: it keeps the books of an AcceleratorRuntime, and its events happen when told."""

from teachtorch.memory.runtime import AcceleratorRuntime, DeviceOutOfMemory

GIB = 2**30


class BookkeepingEvent:
    def __init__(self):
        self.done = False

    def query(self):
        return self.done

    def synchronize(self):
        self.done = True


class BookkeepingRuntime(AcceleratorRuntime):
    """`capacity` bytes; addresses are never reused, so a stale one is noticed."""

    device_type = "sim"
    can_map = True

    def __init__(self, capacity=64 * GIB):
        self.capacity, self.used = capacity, 0
        self.next_address = 0x1000_0000
        self.sizes = {}  # address -> bytes
        self.reserved = {}  # address -> bytes of addresses
        self.mapped = {}  # address of a mapped piece -> bytes
        self.events = []
        self.mallocs = self.frees = 0

    def take(self, nbytes):
        if self.used + nbytes > self.capacity:
            raise DeviceOutOfMemory(f"{nbytes} bytes")
        self.used += nbytes

    def new_address(self, nbytes):
        address = self.next_address
        self.next_address += nbytes + 4096
        return address

    def device_malloc(self, nbytes):
        self.mallocs += 1
        self.take(nbytes)
        address = self.new_address(nbytes)
        self.sizes[address] = nbytes
        return address

    def device_free(self, address):
        self.frees += 1
        self.used -= self.sizes.pop(address)

    def memory_info(self):
        return self.capacity - self.used, self.capacity

    def record_event(self, stream_id):
        self.events.append(BookkeepingEvent())
        return self.events[-1]

    def synchronize(self):
        for event in self.events:
            event.synchronize()

    def reserve_addresses(self, nbytes):
        address = self.new_address(nbytes)
        self.reserved[address] = nbytes
        return address

    def map_memory(self, address, nbytes):
        self.take(nbytes)
        assert not any(
            address < start + size and start < address + nbytes for start, size in self.mapped.items()
        )
        self.mapped[address] = nbytes

    def unmap_memory(self, address, nbytes):
        """Remove a stretch, cutting the pieces at its ends."""
        end = address + nbytes
        inside = 0
        for start, size in list(self.mapped.items()):
            low, high = max(start, address), min(start + size, end)
            if low >= high:
                continue
            inside += high - low
            del self.mapped[start]
            if start < low:
                self.mapped[start] = low - start
            if high < start + size:
                self.mapped[high] = start + size - high
        assert inside == nbytes
        self.used -= nbytes

    def release_addresses(self, address, nbytes):
        assert self.reserved.pop(address) == nbytes
