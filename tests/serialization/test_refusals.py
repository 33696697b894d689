"""Files that load refuses: bombs, lies, damage. Nothing in them is run, and an error says what is wrong."""
import collections
import io
import os
import pickle
import random
import struct
import subprocess
import warnings
import zipfile

import pytest

import teachtorch as torch
from teachtorch import serialization

REFUSED = (pickle.UnpicklingError, RuntimeError, EOFError, ValueError)


def archive(pickled, records=(), name="archive", compression=zipfile.ZIP_STORED):
    """A file with a pickle of one's own in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as zipped:
        zipped.writestr(f"{name}/data.pkl", pickled)
        for path, data in records:
            zipped.writestr(path, data)
    file.seek(0)
    return file


def saved(obj):
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return file


class Runs:
    """Unpickling it with Python makes a folder."""

    def __init__(self, path, function=os.mkdir):
        self.path, self.function = path, function

    def __reduce__(self):
        return self.function, (self.path,)


class Ours:
    def __init__(self):
        self.value = 3


# ---- code ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("function", [os.mkdir, os.system, eval, exec, subprocess.check_output, open, getattr])
def test_nothing_outside_the_list_is_called(tmp_path, function):
    target = tmp_path / "made"
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(archive(pickle.dumps(Runs(str(target), function), 2)))
    assert not target.exists()


def test_weights_only_false_is_as_unsafe_as_pytorch_says(tmp_path):
    torch.load(archive(pickle.dumps(Runs(str(tmp_path / "made")), 2)), weights_only=False)
    assert (tmp_path / "made").exists()


def test_the_message_says_what_to_do():
    name = f"{__name__}.Ours"
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(saved(Ours()))
    assert f"GLOBAL {name} was not an allowed global by default" in str(caught.value)
    assert f"torch.serialization.add_safe_globals([{name}])" in str(caught.value)


def test_what_the_user_allows_is_made_and_only_meanwhile():
    with serialization.safe_globals([Ours]):
        assert serialization.get_safe_globals() == [Ours]
        assert torch.load(saved(Ours())).value == 3
    with pytest.raises(pickle.UnpicklingError):
        torch.load(saved(Ours()))


def test_modules_that_are_blocked_cannot_be_allowed(tmp_path):
    with serialization.safe_globals([os.mkdir]), pytest.raises(pickle.UnpicklingError, match="is blocked"):
        torch.load(archive(pickle.dumps(Runs(str(tmp_path / "made")), 2)))


def test_the_names_in_a_file_can_be_listed_without_running_it(tmp_path):
    file = archive(pickle.dumps([Runs(str(tmp_path / "made")), collections.OrderedDict()], 2))
    assert serialization.get_unsafe_globals_in_checkpoint(file) == [f"{os.mkdir.__module__}.mkdir"]
    assert not (tmp_path / "made").exists()


HAND_MADE = {
    "a call of a value": b"\x80\x02K\x01)R.",
    "a state for a class": b"\x80\x02ctorch\nTensor\n}X\x01\x00\x00\x00xK\x01sb.",
    "a state for a function": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x01\x00\x00\x00xK\x01sb.",
    "a tensor without anything": b"\x80\x02ctorch\nTensor\n)\x81.",
    "a method of a class": b"\x80\x02ccollections\nOrderedDict.clear\n)R.",
    "bytes of a number": b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
    "a codec of one's own": b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x04\x00\x00\x00evil\x86R.",
    "items for a tuple": b"\x80\x02)K\x01a.",
    "an odd number of items": b"\x80\x02}(K\x01u.",
    "a mark that is not there": b"\x80\x02t.",
    "a memo that is not there": b"\x80\x02h\x05.",
    "an empty stack": b"\x80\x02.",
    "an id that is no storage": b"\x80\x02X\x01\x00\x00\x00xQ.",
    "a text longer than the file": b"\x80\x02X\xff\xff\xff\xffa.",
    "an extension": b"\x80\x02\x82\x01.",
    "an instance": b"\x80\x02(ios\nsystem\n.",
    "no end": b"\x80\x02N",
    "nothing": b"",
}


@pytest.mark.parametrize("pickled", HAND_MADE.values(), ids=HAND_MADE)
def test_pickles_written_by_hand_are_refused(pickled):
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(archive(pickled))
    assert not hasattr(torch.Tensor, "x")


def test_a_memo_with_a_huge_index_takes_no_memory():
    assert torch.load(archive(b"\x80\x02Nr\xff\xff\xff\xff.")) is None


def test_a_nested_bomb_stays_as_small_as_its_file():
    doubled = b"\x80\x02]q\x00" + b"".join(b"]q%c(h%ch%ce" % (i + 1, i, i) for i in range(100)) + b"."
    assert len(torch.load(archive(doubled))) == 2


# ---- lies about tensors -------------------------------------------------------------------------------------------

class Claims:
    """Pickles as a tensor with a geometry that need not be true."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __reduce__(self):
        return serialization.rebuild.tensor_v2, self.arguments


def claim(offset=0, size=(2,), stride=(1,), requires_grad=False, dtype=torch.float32):
    storage = serialization.TypedStorage(torch.ones(4).untyped_storage(), dtype)
    return saved(Claims(storage, offset, size, stride, requires_grad, collections.OrderedDict()))


def test_a_true_claim_is_believed():
    assert torch.load(claim(offset=2)).tolist() == [1, 1]


@pytest.mark.parametrize("lie", [dict(offset=3), dict(size=(5,)), dict(stride=(4,)), dict(offset=-1), dict(size=(-1,)),
                                 dict(stride=(-1,)), dict(size=(2.0,)), dict(stride=(1, 1)), dict(size="ab"),
                                 dict(size=None)], ids=str)
def test_a_tensor_outside_of_its_storage_is_refused(lie):
    with pytest.raises(REFUSED):
        torch.load(claim(**lie))


def test_integers_that_require_grad_are_refused():
    with pytest.raises(RuntimeError, match="floating point"):
        torch.load(claim(requires_grad=True, dtype=torch.int32))


def test_a_storage_larger_than_its_record_is_refused():
    whole = saved(torch.ones(4))
    with zipfile.ZipFile(whole) as zipped:
        records = [(n, zipped.read(n)[:8] if "/data/" in n else zipped.read(n)) for n in zipped.namelist()[1:]]
        pickled = zipped.read("archive/data.pkl")
    with pytest.raises(RuntimeError, match="record data/0 has 8 bytes, not the 16"):
        torch.load(archive(pickled, records))
    with pytest.raises(RuntimeError, match="locating file data/0"):
        torch.load(archive(pickled))


def test_dtypes_that_are_not_here_are_named():
    with pytest.raises(pickle.UnpicklingError, match="teachtorch has no torch.complex64"):
        torch.load(archive(b"\x80\x02ctorch\ncomplex64\n."))


# ---- archives -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("path", ["../evil", "/etc/evil", "archive/../../evil", "elsewhere/evil", "archive\\..\\evil"])
def test_records_outside_of_the_folder_are_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match="outside of the archive's folder"):
        torch.load(archive(pickle.dumps(1, 2), [(path, b"x")]))
    assert os.listdir(tmp_path) == []


def test_a_key_is_no_path():
    pickled = saved(torch.ones(1))
    with zipfile.ZipFile(pickled) as zipped:
        evil = zipped.read("archive/data.pkl").replace(b"X\x01\x00\x00\x000", b"X\x07\x00\x00\x00../../0")
    with pytest.raises(RuntimeError, match="file not found"):
        torch.load(archive(evil))


def test_compressed_records_are_refused_before_they_swell():
    bomb = archive(pickle.dumps(1, 2), [("archive/data/0", bytes(10_000_000))], compression=zipfile.ZIP_DEFLATED)
    assert len(bomb.getvalue()) < 100_000
    with pytest.raises(RuntimeError, match="is compressed"):
        torch.load(bomb)


def test_records_of_one_name_are_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice = archive(pickle.dumps(1, 2), [("archive/data.pkl", pickle.dumps(2, 2))])
    with pytest.raises(RuntimeError, match="two records"):
        torch.load(twice)


def test_a_size_that_the_file_cannot_have_is_refused():
    data = bytearray(saved(torch.ones(1000)).getvalue())
    entry = data.index(b"PK\x01\x02")
    data[entry + 20:entry + 28] = struct.pack("<II", 2**31, 2**31)
    with pytest.raises(RuntimeError, match="corrupted"):
        torch.load(io.BytesIO(bytes(data)))


# ---- damage -------------------------------------------------------------------------------------------------------

def test_every_truncated_file_is_refused():
    whole = saved({"a": torch.arange(100.0), "b": [1, "x"]}).getvalue()
    for length in range(0, len(whole) - 1, 7):
        with pytest.raises(REFUSED):
            torch.load(io.BytesIO(whole[:length]))


def test_a_changed_byte_in_the_data_is_noticed():
    whole = bytearray(saved(torch.full((100,), 7.0)).getvalue())
    whole[whole.index(struct.pack("<f", 7.0)) + 2] ^= 1
    with pytest.raises(RuntimeError, match="file is corrupted"):
        torch.load(io.BytesIO(bytes(whole)))


def test_changed_bytes_anywhere_give_a_clear_error_or_the_same_object():
    whole, numbers = saved({"a": torch.arange(20.0), "b": [1, "x", None]}).getvalue(), random.Random(0)
    for _ in range(400):
        changed = bytearray(whole)
        changed[numbers.randrange(len(changed))] = numbers.randrange(256)
        try:
            found = torch.load(io.BytesIO(bytes(changed)))
        except REFUSED:
            continue
        assert found["a"].tolist() == list(range(20)) and found["b"] == [1, "x", None]


def test_changed_pickles_give_a_clear_error_or_some_object():
    with zipfile.ZipFile(saved({"a": torch.arange(20.0), "p": torch.nn.Parameter(torch.ones(2)), "n": 3})) as zipped:
        pickled, numbers = zipped.read("archive/data.pkl"), random.Random(1)
        records = [(name, zipped.read(name)) for name in zipped.namelist()[1:]]
    for _ in range(600):
        changed = bytearray(pickled)
        changed[numbers.randrange(len(changed))] = numbers.randrange(256)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                torch.load(archive(bytes(changed), records))
            except REFUSED:
                pass


@pytest.mark.parametrize("data, error", [(b"", EOFError), (b"<html>404", pickle.UnpicklingError),
                                         (pickle.dumps({"a": 1}, 2), RuntimeError)])
def test_other_files_are_refused(data, error):
    with pytest.raises(error):
        torch.load(io.BytesIO(data))
