"""Where storages were when saved, and where they go when loaded (`map_location`)."""
from ..core.device import META, device
from ..core.dtype import uint8
from ..memory.storage import UntypedStorage
from ..tensor import from_geometry, storage_of

NOT_AVAILABLE = ("Attempting to deserialize object on a {0} device but torch.{1}.is_available() is False. If you are "
                 "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map "
                 "your storages to the CPU.")

_packages = []                                # (priority, tagger, deserializer), the lowest priority first


def register_package(priority, tagger, deserializer):
    """Teach save and load a device: `tagger(storage)` names the place of its storages, `deserializer(storage, tag)`
    moves a storage there from the CPU; both return None for what is not theirs. Low priorities are asked first.
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage):
    """The name of the place where a storage is. RuntimeError if nobody knows it."""
    for _, tagger, _ in _packages:
        tag = tagger(storage)
        if tag is not None:
            return tag
    raise RuntimeError(f"don't know how to determine data location of {type(storage).__name__}")


def default_restore_location(storage, location):
    """The storage, moved to the place named. RuntimeError if nobody knows it, or it is not there."""
    for _, _, deserializer in _packages:
        moved = deserializer(storage, location)
        if moved is not None:
            return moved
    kind = location.partition(":")[0]
    if kind in ("cuda", "mps", "xpu", "hpu"):
        raise RuntimeError(NOT_AVAILABLE.format(kind.upper(), kind))
    raise RuntimeError(f"don't know how to restore data location of {type(storage).__name__} (tagged with {location})")


def restorer(map_location):
    """function(storage, tag) -> storage, as `map_location` asks: None, a string, a device, a dict or a function."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, tag: default_restore_location(storage, map_location.get(tag, tag))
    if isinstance(map_location, bytes):
        map_location = map_location.decode()
    if isinstance(map_location, (str, device)):
        return lambda storage, tag: default_restore_location(storage, str(map_location))

    def ask(storage, tag):
        moved = map_location(storage, tag)
        return default_restore_location(storage, tag) if moved is None else moved
    return ask


def is_meta(map_location):
    """Whether it is known beforehand that nothing of the data is wanted."""
    return isinstance(map_location, (str, device)) and str(map_location) == "meta"


def on_meta(storage):
    return UntypedStorage(None, META, storage.nbytes())


def tag_of(kind):
    return lambda storage: kind if storage.device.type == kind else None


def on_sim(storage, tag):
    """The storage, copied to the simulated accelerator, if that is where it goes."""
    if tag.partition(":")[0] != "sim":
        return None
    t = from_geometry(storage, (storage.nbytes(),), (1,), 0, uint8)
    return storage_of(t.to(device(tag)))


register_package(10, tag_of("cpu"), lambda storage, tag: storage if tag == "cpu" else None)
register_package(22, tag_of("meta"), lambda storage, tag: on_meta(storage) if tag == "meta" else None)
register_package(20, lambda storage: str(storage.device) if storage.device.type == "sim" else None, on_sim)
