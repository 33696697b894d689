"""torch.save and torch.load: what survives, where it goes, and that files are whole."""
import collections
import io
import os
import pathlib
import zipfile

import pytest

import teachtorch as torch


def saved(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return file


def again(obj, **options):
    return torch.load(saved(obj), **options)


def test_a_view_brings_its_whole_storage_a_clone_only_itself():
    part = torch.zeros(10_000)[:2]
    assert len(saved(part).getvalue()) > 40_000 > 4_000 > len(saved(part.clone()).getvalue())


def test_tensors_that_share_memory_share_it_again():
    x = torch.arange(9.0)
    a, b = again([x, x[1::2]])
    b.zero_()
    assert a.tolist() == [0, 0, 2, 0, 4, 0, 6, 0, 8]


def test_a_storage_is_written_once():
    names = zipfile.ZipFile(saved([torch.zeros(3)] * 3 + [torch.zeros(3).t()])).namelist()
    assert [n for n in names if "/data/" in n] == ["archive/data/0", "archive/data/1"]


def test_strides_offsets_and_flags_survive():
    view = torch.arange(12.0).reshape(3, 4).t()[1:]
    found = again(view)
    assert found.stride() == view.stride() and found.storage_offset() == 1 and found.tolist() == view.tolist()
    assert again(torch.ones(2, requires_grad=True)).requires_grad
    frozen = again(torch.nn.Parameter(torch.ones(2), requires_grad=False))
    assert isinstance(frozen, torch.nn.Parameter) and not frozen.requires_grad


def test_a_result_is_loaded_as_a_leaf():
    found = again(torch.ones(1, requires_grad=True) * 2)
    assert found.is_leaf and found.requires_grad and found.item() == 2


def test_attributes_of_tensors_survive():
    x, p = torch.ones(1), torch.nn.Parameter(torch.ones(1))
    x.label = p.label = "mine"
    assert [t.label for t in again([x, p])] == ["mine", "mine"]


def test_plain_python_values_survive():
    value = {"n": None, "t": (1, (2.5, "ü"), [True, -3, 10**30]), "c": collections.Counter("aab"), "s": {1, 2},
             "b": b"\x00\xff", "a": bytearray(b"x"), "z": 1j, 3: torch.Size([1, 2]), "d": torch.float16}
    assert again(value) == value


def test_one_storage_as_two_dtypes_is_refused():
    x = torch.ones(4)
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        saved([x, x.view(torch.int32)])


def test_training_goes_on_from_a_checkpoint():
    def step(model, optimizer):
        optimizer.zero_grad()
        model(torch.ones(4, 2)).pow(2).sum().backward()
        optimizer.step()
    models = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    optimizers = [torch.optim.Adam(m.parameters(), lr=0.1) for m in models]
    step(models[0], optimizers[0])
    checkpoint = again({"model": models[0].state_dict(), "optimizer": optimizers[0].state_dict()})
    models[1].load_state_dict(checkpoint["model"])
    optimizers[1].load_state_dict(checkpoint["optimizer"])
    for pair in zip(models, optimizers):
        step(*pair)
    assert models[0].weight.tolist() == models[1].weight.tolist()


def test_a_whole_module_needs_trust():
    model = torch.nn.Linear(2, 1)
    file = saved(model)
    with pytest.raises(Exception, match="Unsupported global: GLOBAL teachtorch.nn"):
        torch.load(file)
    file.seek(0)
    assert torch.load(file, weights_only=False)(torch.ones(2)).tolist() == model(torch.ones(2)).tolist()


# ---- map_location ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("where", ["cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, tag: storage,
                                   lambda storage, tag: None])
def test_map_location_in_all_its_forms(where):
    assert again(torch.ones(2), map_location=where).device.type == "cpu"


def test_a_function_is_told_the_place_of_each_storage_once():
    places = []
    again([torch.ones(2), torch.ones(3)], map_location=lambda storage, tag: places.append((storage.nbytes(), tag)))
    assert places == [(8, "cpu"), (12, "cpu")]


def test_on_meta_there_are_shapes_only():
    found = again(torch.ones(2, 3), map_location="meta")
    assert found.is_meta and found.shape == (2, 3)


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        again(torch.ones(2), map_location={"cpu": "cuda:0"})
    with pytest.raises(RuntimeError, match="don't know how to restore data location"):
        again(torch.ones(2), map_location="elsewhere")


# ---- files -------------------------------------------------------------------------------------------------------

def test_paths_and_file_objects(tmp_path):
    path = tmp_path / "net.pt"
    torch.save([1], path)
    assert torch.load(path) == torch.load(str(path), mmap=True) == [1]
    with open(path, "rb") as file:
        assert torch.load(file) == [1]
    assert zipfile.ZipFile(path).namelist()[0] == "net/data.pkl"


def test_storages_lie_at_multiples_of_64_bytes():
    file = saved([torch.ones(1), torch.ones(5)])
    for info in zipfile.ZipFile(file).infolist():
        head = file.getvalue()[info.header_offset:]
        start = info.header_offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        assert start % 64 == 0


class Unpicklable:
    def __reduce__(self):
        raise TypeError("not this one")




def test_what_cannot_be_pickled_leaves_the_old_file(tmp_path):
    path = tmp_path / "net.pt"
    torch.save("old", path)
    with pytest.raises(TypeError, match="not this one"):
        torch.save([torch.ones(3), Unpicklable()], path)
    assert torch.load(path) == "old" and os.listdir(tmp_path) == ["net.pt"]


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "net.pt"
    torch.save("old", path)

    def fail(self, info, data):
        if "/data/" in info.filename:
            raise OSError("no space left")
        write(self, info, data)
    write = zipfile.ZipFile.writestr
    monkeypatch.setattr(zipfile.ZipFile, "writestr", fail)
    with pytest.raises(OSError, match="no space"):
        torch.save(torch.ones(3), path)
    assert torch.load(path) == "old" and os.listdir(tmp_path) == ["net.pt"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions and links")
def test_permissions_and_links_stay(tmp_path):
    path, link = tmp_path / "net.pt", tmp_path / "link.pt"
    torch.save(1, path)
    path.chmod(0o640)
    link.symlink_to(path)
    torch.save(2, link)
    assert link.is_symlink() and torch.load(path) == 2 and path.stat().st_mode & 0o777 == 0o640


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        torch.save(1, tmp_path / "no" / "net.pt")
    with pytest.raises(AttributeError, match="expected 'f' to be string, path"):
        torch.save(1, 5)


def test_where_nothing_can_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        torch.load(pathlib.Path(tmp_path, "no.pt"))
    with pytest.raises(AttributeError, match="from a file that is seekable"):
        torch.load(3)
    with pytest.raises(ValueError, match="mmap"):
        torch.load(saved(1), mmap=True)
