"""Grades tensor_handle.py."""

from exercises.grading import equal, holds, points


class System:
    """The operating system's named memory, with a record of what was asked of it."""

    def __init__(self):
        self.memory, self.counts, self.created, self.opened = {}, {}, 0, 0

    def create(self, nbytes):
        self.created += 1
        name = f"memory{self.created}"
        self.memory[name] = bytearray(nbytes)
        return name, self.memory[name]

    def open(self, name):
        self.opened += 1
        return self.memory[name]

    def unlink(self, name):
        del self.memory[name]

    def count(self, name, change):
        self.counts[name] = self.counts.get(name, 0) + change
        return self.counts[name]

    def names(self):
        return list(self.memory)


def row(yours, content=b"abcdef"):
    """A tensor over all of a new storage."""
    return yours.Tensor(yours.Storage(bytearray(content)), 0, (len(content),), (1,))


def view(yours, tensor, offset, size, stride):
    return yours.Tensor(tensor.storage, offset, size, stride)


def flat(parts):
    """The parts, and those of tuples among them."""
    return [each for part in parts for each in (flat(part) if type(part) is tuple else [part])]


def received(yours, tensor, system, storages):
    return yours.receive(yours.send(tensor, system), system, storages)


@points(1, "the handle does not hold the data")
def test_handle_is_small(yours):
    small, large = (repr(yours.send(row(yours, b"x" * n), System())) for n in (10, 10_000))
    why = "the handle holds the data: its length grew with the storage, and shared memory is there so that it does not"
    holds(len(large) < len(small) + 20, why)
    handle = yours.send(row(yours), System())
    kinds = sorted({type(part).__name__ for part in [handle, *flat(handle)]})
    why = "a string, integers and tuples of integers: another process has none of your objects"
    equal(kinds, ["int", "str", "tuple"], why, what="the types in a handle")


@points(1, "both processes see the same memory")
def test_same_memory(yours):
    system, tensor = System(), row(yours)
    there = received(yours, tensor, system, {})
    why = "another process has Storages of its own: it opens the memory by its name"
    equal([there.storage is tensor.storage, system.opened], [False, 1], why,
          what="[whether both have one Storage, calls of open]")
    there.storage.data[0] = ord("z")
    equal(
        bytes(tensor.storage.data),
        b"zbcdef",
        "the receiver wrote a z, and the sender looks at the same memory",
    )
    tensor.storage.data[1] = ord("y")
    equal(bytes(there.storage.data), b"zycdef", "and the other way round")


@points(1, "offset, size and stride travel")
def test_geometry(yours):
    system, tensor = System(), row(yours)
    part = view(yours, tensor, 1, (2, 2), (1, 3))
    there = received(yours, part, system, {})
    got = there.offset, there.size, there.stride
    equal(
        got,
        (1, (2, 2), (1, 3)),
        "the handle says where the view begins, and how it goes on",
        what="the geometry",
    )


@points(1, "the whole storage moves, and its other tensors with it")
def test_whole_storage(yours):
    system, tensor = System(), row(yours)
    there = received(yours, view(yours, tensor, 2, (2,), (1,)), system, {})
    equal(len(there.storage.data), 6, "the whole storage moves, not only what the view shows")
    tensor.storage.data[2] = ord("z")
    why = "the whole storage moves: another tensor over it wrote a z, and the view's receiver must see that"
    equal(bytes(there.storage.data), b"abzdef", why)


@points(1, "a storage moves once")
def test_moved_once(yours):
    system, tensor = System(), row(yours)
    names = {yours.send(each, system)[0] for each in (tensor, tensor, view(yours, tensor, 1, (1,), (1,)))}
    equal(
        system.created,
        1,
        "a storage moves once; then it is shared, and a handle is all it takes",
        what="moves",
    )
    equal(len(names), 1, "and all its tensors have handles to the same memory")


@points(1, "the same memory is mapped once")
def test_mapped_once(yours):
    system, storages, tensor = System(), {}, row(yours)
    first = received(yours, tensor, system, storages)
    second = received(yours, view(yours, tensor, 3, (1,), (1,)), system, storages)
    holds(
        first.storage is second.storage, "two tensors over one storage arrive as two tensors over one storage"
    )
    equal(system.opened, 1, "and the receiver opens that memory once", what="calls of open")


@points(1, "the name stays while a handle is under way")
def test_under_way(yours):
    system, tensor = System(), row(yours)
    handle = yours.send(tensor, system)
    yours.let_go(tensor.storage, system)
    why = "the sender has let go, but its handle is still under way: the receiver needs the name to open the memory"
    holds(handle[0] in system.names(), why)
    equal(bytes(yours.receive(handle, system, {}).storage.data), b"abcdef", why)


@points(1, "the last one removes the name")
def test_nothing_left(yours):
    system, storages, tensor = System(), {}, row(yours)
    there = received(yours, tensor, system, storages)
    received(yours, tensor, system, storages)
    yours.let_go(tensor.storage, system)
    equal(
        system.names(),
        [there.storage.name],
        "the receiver still holds the memory",
        what="the names that are left",
    )
    yours.let_go(there.storage, system)
    why = "both processes have let go and no handle is under way: nobody needs the name, and memory would leak with it"
    equal(system.names(), [], why, what="the names that are left")


@points(1, "a tensor can be sent on")
def test_sent_on(yours):
    system, first, second = System(), {}, {}
    tensor = row(yours)
    there = received(yours, tensor, system, first)
    further = received(yours, there, system, second)
    yours.let_go(tensor.storage, system)
    yours.let_go(there.storage, system)
    further.storage.data[0] = ord("z")
    equal(bytes(tensor.storage.data), b"zbcdef", "three processes hold one stretch of memory")
    equal(system.created, 1, "which was shared before: it need not move again", what="moves")
    yours.let_go(further.storage, system)
    equal(system.names(), [], "and the third was the last", what="the names that are left")
