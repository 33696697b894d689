"""Counts processes only, not handles that are under way."""

from dataclasses import dataclass

FAILS = "test_under_way"
SAYS = "is still under way"


@dataclass
class Storage:
    data: bytearray
    name: str | None = None


@dataclass
class Tensor:
    storage: Storage
    offset: int
    size: tuple
    stride: tuple


def send(tensor, system):
    storage = tensor.storage
    if storage.name is None:
        storage.name, data = system.create(len(storage.data))
        data[:] = storage.data
        storage.data = data
        system.count(storage.name, 1)
    return storage.name, tensor.offset, tensor.size, tensor.stride


def receive(handle, system, storages):
    name, offset, size, stride = handle
    if name not in storages:
        storages[name] = Storage(system.open(name), name)
        system.count(name, 1)
    return Tensor(storages[name], offset, size, stride)


def let_go(storage, system):
    if system.count(storage.name, -1) == 0:
        system.unlink(storage.name)
