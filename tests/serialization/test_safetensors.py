"""teachtorch.serialization.safetensors: what is written is read again, by the package's own functions for torch too."""
import os
import sys

import pytest

import teachtorch as torch
from teachtorch.serialization import safetensors

package = pytest.importorskip("safetensors")
DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()


def of_each_dtype(T):
    found = {name: T.arange(6).reshape(2, 3).to(getattr(T, name)) for name in DTYPES}
    return {**found, "number": T.tensor(2.5), "nothing": T.zeros(0, 3)}


def described(tensors):
    return {name: (str(t.dtype), list(t.shape), t.tolist()) for name, t in tensors.items()}


def test_all_dtypes_survive(tmp_path):
    path = tmp_path / "all.safetensors"
    safetensors.save_file(of_each_dtype(torch), path, {"made": "here"})
    assert described(safetensors.load_file(path)) == described(of_each_dtype(torch))
    assert described(safetensors.load(path.read_bytes())) == described(of_each_dtype(torch))
    assert described(torch.load(path)) == described(of_each_dtype(torch))
    with package.safe_open(path, "np") as file:
        assert file.metadata() == {"made": "here"}


def test_the_packages_own_functions_read_and_write_the_same(tmp_path):
    pytest.importorskip("torch")
    import torch as pytorch
    from safetensors import torch as theirs

    path = tmp_path / "all.safetensors"
    safetensors.save_file(of_each_dtype(torch), path)
    assert described(theirs.load_file(path)) == described(of_each_dtype(pytorch))
    theirs.save_file(of_each_dtype(pytorch), path)
    assert described(safetensors.load_file(path)) == described(of_each_dtype(torch))


def test_loaded_tensors_are_writable():
    found = safetensors.load(safetensors.save({"x": torch.zeros(2)}))["x"]
    assert found.add_(1).tolist() == [1, 1]


# ---- refusals, as in safetensors.torch ----------------------------------------------------------------------------

def refused():
    x = torch.arange(4.0)
    return [(ValueError, "non contiguous tensor: `a`", {"a": torch.ones(2, 3).t()}),
            (RuntimeError, "Some tensors share memory", {"a": x, "b": x}),
            (RuntimeError, "Some tensors share memory", {"a": x[:3], "b": x[1:]}),
            (ValueError, "Key `a` is invalid", {"a": 1}),
            (ValueError, "Expected a dict", [x])]


@pytest.mark.parametrize("i", range(5))
def test_what_cannot_be_saved_is_refused(i, tmp_path):
    error, message, tensors = refused()[i]
    with pytest.raises(error, match=message):
        safetensors.save_file(tensors, tmp_path / "no.safetensors")
    assert os.listdir(tmp_path) == []


def test_views_that_do_not_overlap_may_be_saved():
    x = torch.arange(4.0)
    assert safetensors.load(safetensors.save({"a": x[:2], "b": x[2:]}))["b"].tolist() == [2, 3]


def test_damaged_files_are_refused(tmp_path):
    whole = safetensors.save({"x": torch.ones(100)})
    for data in (b"", b"abc", whole[:-10], whole[:20], b"\xff" * 8 + whole[8:]):
        with pytest.raises(package.SafetensorError):
            safetensors.load(data)
    with pytest.raises(FileNotFoundError):
        safetensors.load_file(tmp_path / "no.safetensors")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "net.safetensors"
    safetensors.save_file({"x": torch.ones(1)}, path)
    with pytest.raises(ValueError):
        safetensors.save_file({"x": torch.ones(1), "y": 1}, path)
    assert safetensors.load_file(path)["x"].tolist() == [1] and os.listdir(tmp_path) == ["net.safetensors"]


def test_without_the_package_its_extra_is_named(monkeypatch):
    for name in ("safetensors", "safetensors.numpy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'teachtorch\[safetensors\]'"):
        safetensors.save({"x": torch.ones(1)})


# ---- modules ------------------------------------------------------------------------------------------------------

def tied():
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
    model[1].weight = model[0].weight
    return model


def test_modules_with_tied_weights(tmp_path):
    path = tmp_path / "net.safetensors"
    model, other = tied(), tied()
    safetensors.save_model(model, path)
    assert set(safetensors.load_file(path)) == {"0.weight", "0.bias", "1.bias"}
    assert safetensors.load_model(other, path) == ([], [])
    assert other[1].weight.tolist() == model[0].weight.tolist()


def test_a_damaged_file_changes_no_parameter(tmp_path):
    path, model = tmp_path / "net.safetensors", torch.nn.Linear(2, 2)
    safetensors.save_model(torch.nn.Linear(2, 2), path)
    path.write_bytes(path.read_bytes()[:-4])
    before = model.weight.tolist()
    with pytest.raises(package.SafetensorError):
        safetensors.load_model(model, path)
    assert model.weight.tolist() == before


def test_missing_and_unexpected_names(tmp_path):
    path = tmp_path / "net.safetensors"
    safetensors.save_file({"weight": torch.ones(2, 2), "extra": torch.ones(1)}, path)
    with pytest.raises(RuntimeError, match='Missing key.*"bias"(.|\n)*Unexpected key.*"extra"'):
        safetensors.load_model(torch.nn.Linear(2, 2), path)
    assert safetensors.load_model(torch.nn.Linear(2, 2), path, strict=False) == (["bias"], ["extra"])
