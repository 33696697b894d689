"""Shared memory that is filled again: when it may be, what is in it then, how much is kept."""

import mmap
import os

import numpy as np
import pytest

import teachtorch as torch
import teachtorch.multiprocessing as mp
from teachtorch.memory import filling, shared, spares

from . import work

pytestmark = pytest.mark.skipif(not shared.HAS_ANONYMOUS_FILES, reason="needs memfd_create")
LARGE = 2**18 + 1000  # float32 elements: a megabyte, some pages and a part of one


@pytest.fixture(autouse=True)
def no_spares():
    """Before, and nothing kept after."""
    spares.drop()
    yield
    spares.drop()


def inode(t):
    return t.untyped_storage().shared.key


def large(value=1.0, count=LARGE):
    return torch.full((count,), value).share_memory_()


@pytest.fixture
def child():
    """A process that holds what it is sent until it is told to drop it."""
    context = mp.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=work.hold_and_answer, args=(theirs,))
    process.start()
    yield ours
    ours.send("end")
    process.join(30)
    assert process.exitcode == 0


def told(connection, message):
    connection.send(message)
    return connection.recv()


def test_memory_of_a_dead_tensor_is_filled_again():
    x = large()
    first = inode(x)
    del x
    y = large(2.0)
    assert inode(y) == first and bool((y == 2).all())


def test_two_living_tensors_have_two_memories():
    x, y = large(1.0), large(2.0)
    assert inode(x) != inode(y) and bool((x == 1).all()) and bool((y == 2).all())


@pytest.mark.parametrize("looker", [lambda x: x[5:], lambda x: x.numpy(), lambda x: memoryview(x.numpy()),
                                    lambda x: x.numpy()[3:].reshape(-1, 1), lambda x: x.untyped_storage()])  # fmt: skip
def test_not_while_something_in_this_process_looks(looker):
    x = large()
    first, keeper = inode(x), looker(x)
    del x
    y = large(2.0)
    assert inode(y) != first
    del keeper
    assert inode(large(3.0)) == first and bool((y == 2).all())


def test_not_while_another_process_looks(child):
    x = large()
    first = inode(x)
    assert told(child, x) == 1
    del x
    y = large(2.0)
    assert inode(y) != first and told(child, "look") == 1
    told(child, "drop")
    assert inode(large(3.0)) == first


def test_not_while_a_message_is_under_way():
    ours, theirs = mp.Pipe()
    x = large()
    first = inode(x)
    ours.send(x)
    del x
    y = large(2.0)
    there = theirs.recv()
    assert inode(y) != first and inode(there) == first and bool((there == 1).all())


def test_never_what_a_forked_child_inherited():
    x = large()
    first = inode(x)
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitpid(pid, 0)
    del x
    assert inode(large()) != first


def test_a_forked_child_does_not_fill_what_its_parent_fills():
    x = large()
    first = inode(x)
    del x  # spare, in both
    ours, theirs = mp.Pipe()
    pid = os.fork()
    if not pid:
        theirs.send(inode(large(3.0)) == first)
        os._exit(0)
    os.waitpid(pid, 0)
    y = large(2.0)
    assert ours.recv() is False and inode(y) == first and bool((y == 2).all())


def test_a_killed_child_gives_its_memory_back():
    context = mp.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=work.hold_until_killed, args=(theirs,))
    process.start()
    x = large()
    first = inode(x)
    assert told(ours, x) == LARGE
    del x
    y = large()
    assert inode(y) != first
    process.kill()
    process.join(30)
    assert inode(large()) == first


def test_a_receiver_can_pass_it_on(child):
    x = large()
    first = inode(x)
    told(child, x)
    del x
    back = told(child, "give")
    told(child, "drop")
    assert inode(back) == first and inode(large(5.0)) != first and bool((back == 1).all())


def test_nobody_is_shown_old_data(child):
    """The page that both tensors end in is all zeros behind the second."""
    secret = large(7.0)
    first = inode(secret)
    del secret
    x = large(1.0, LARGE - 9)
    assert inode(x) == first
    told(child, x)
    whole = np.frombuffer(mmap.mmap(x.untyped_storage().shared.fd, 0), np.float32)
    assert (whole[: LARGE - 9] == 1).all() and not whole[LARGE - 9 :].any()


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(spares, "MOST_SEGMENTS", 2)
    many = [large() for _ in range(4)]
    inodes = [inode(x) for x in many]
    while many:
        del many[0]
    assert {inode(x) for x in [large(), large(), large()]} & set(inodes) == set(inodes[2:])
    spares.drop()
    monkeypatch.setattr(spares, "MOST_BYTES", 2**20)
    descriptors = len(os.listdir("/proc/self/fd"))
    large()
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_descriptors_do_not_pile_up():
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        large()
    spares.drop()
    assert len(os.listdir("/proc/self/fd")) == before


# ---- filling -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nbytes", [0, 1, 4096, filling.BACK + 1, filling.FRONT + 4097, 3 * filling.FRONT + 5])
def test_filled_from_both_ends(nbytes):
    data = np.random.default_rng(0).integers(0, 256, nbytes, np.uint8)
    fd = os.memfd_create("test")
    os.ftruncate(fd, max(nbytes, 1))
    memory = mmap.mmap(fd, max(nbytes, 1))
    filling.fill_two_ways(fd, memory, data)
    assert os.pread(fd, nbytes, 0) == data.tobytes()
    os.close(fd)


class NoMemory(mmap.mmap):
    """A mapping that gets no more pages."""

    def madvise(self, *args):
        raise OSError("no memory")


def test_what_the_mapping_cannot_take_goes_through_the_file():
    data = np.random.default_rng(0).integers(0, 256, 2 * filling.FRONT, np.uint8)
    fd = os.memfd_create("test")
    os.ftruncate(fd, len(data))
    filling.fill_two_ways(fd, NoMemory(fd, len(data)), data)
    assert os.pread(fd, len(data), 0) == data.tobytes()
    os.close(fd)
