"""Files of each library are read by the other: the same values, dtypes, strides, classes and sharing."""
import collections
import io
import pickle

import pytest

import teachtorch

torch = pytest.importorskip("torch")

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()


def through_a_file(writer, reader, obj, **options):
    file = io.BytesIO()
    writer.save(obj, file)
    file.seek(0)
    return reader.load(file, weights_only=True, **options)


def of_each_dtype(T):
    return {name: T.arange(5).to(getattr(T, name)) for name in DTYPES}


def views(T):
    x = T.arange(24.0).reshape(2, 3, 4)
    return [x, x[1].t(), x[:, ::2], x[0, 0].expand(3, 4), x[1, 1, 1], T.zeros(0, 3), T.zeros(2, 0)[:, :0]]


def flags(T):
    frozen = T.nn.Parameter(T.ones(2), requires_grad=False)
    result = T.ones(1, requires_grad=True) * 2
    return {"p": T.nn.Parameter(T.ones(2)), "frozen": frozen, "leaf": T.ones(1, requires_grad=True), "result": result}


def plain_values(T):
    return {"n": None, "t": (1, (2.5, "ü", True), [-3, 70_000, 10**30, []]), "c": collections.Counter("aab"),
            "o": collections.OrderedDict(x=1), "s": {1, 2}, "b": b"\x00\xff", "a": bytearray(b"x"), "z": 1j,
            "size": tuple(T.Size([1, 2])), 3: str(T.float16)}


def module_state(T):
    T.manual_seed(0)
    return T.nn.Sequential(T.nn.Linear(3, 4), T.nn.BatchNorm1d(4)).state_dict()


def optimizer_state(T):
    T.manual_seed(0)
    model = T.nn.Linear(3, 2)
    optimizer = T.optim.Adam(model.parameters(), lr=0.1, amsgrad=True)
    model(T.ones(4, 3)).sum().backward()
    optimizer.step()
    return optimizer.state_dict()


def without_data(T):
    return T.empty(2, 3, device="meta").t()


CONTENTS = [of_each_dtype, views, flags, plain_values, module_state, optimizer_state, without_data]
DIRECTIONS = [(torch, teachtorch), (teachtorch, torch), (teachtorch, teachtorch)]


def assert_alike(found, made, reader):
    """`found`, read by `reader`, is what was made, whatever library made it."""
    if hasattr(made, "untyped_storage"):
        assert_alike_tensors(found, made, reader)
    elif isinstance(made, dict):
        assert type(found) is type(made) and list(found) == list(made)
        for key in made:
            assert_alike(found[key], made[key], reader)
    elif isinstance(made, (list, tuple)):
        assert type(found) is type(made) and len(found) == len(made)
        for f, m in zip(found, made):
            assert_alike(f, m, reader)
    else:
        assert found == made and type(found) is type(made)


def assert_alike_tensors(found, made, reader):
    assert isinstance(found, reader.Tensor) and type(found).__name__ == type(made).__name__
    assert str(found.dtype) == str(made.dtype) and tuple(found.shape) == tuple(made.shape)
    assert found.stride() == made.stride() and found.requires_grad == made.requires_grad and found.is_leaf
    assert found.is_meta == made.is_meta
    if not made.is_meta:
        assert found.storage_offset() == made.storage_offset() and found.tolist() == made.tolist()


@pytest.mark.parametrize("make", CONTENTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("writer, reader", DIRECTIONS, ids=["from torch", "to torch", "alone"])
def test_files_cross(writer, reader, make):
    made = make(writer)
    assert_alike(through_a_file(writer, reader, made), made, reader)


@pytest.mark.parametrize("writer, reader", DIRECTIONS, ids=["from torch", "to torch", "alone"])
def test_shared_memory_is_shared_again(writer, reader):
    x = writer.arange(6.0)
    whole, part = through_a_file(writer, reader, [x, x[2:4]])
    part.zero_()
    assert whole.tolist() == [0, 1, 0, 0, 4, 5]


@pytest.mark.parametrize("writer, reader", DIRECTIONS, ids=["from torch", "to torch", "alone"])
def test_the_versions_of_modules_come_along(writer, reader):
    assert through_a_file(writer, reader, module_state(writer))._metadata == module_state(torch)._metadata


@pytest.mark.parametrize("writer, reader", [(torch, teachtorch), (teachtorch, torch)], ids=["from torch", "to torch"])
def test_attributes_of_tensors_cross(writer, reader):
    p = writer.nn.Parameter(writer.ones(1))
    p.label = "mine"
    x = writer.ones(1)
    x.label = "too"
    assert [t.label for t in through_a_file(writer, reader, [p, x])] == ["mine", "too"]


def test_pytorch_maps_our_files_into_memory(tmp_path):
    teachtorch.save({"x": teachtorch.arange(1000.0)}, tmp_path / "x.pt")
    assert torch.load(tmp_path / "x.pt", mmap=True)["x"].tolist() == list(range(1000))


def test_training_goes_on_in_the_other_library():
    losses = {}
    for writer, reader in ((torch, torch), (torch, teachtorch), (teachtorch, torch)):
        writer.manual_seed(3)
        model = writer.nn.Linear(2, 1)
        optimizer = writer.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        steps(writer, model, optimizer)
        state = through_a_file(writer, reader, [model.state_dict(), optimizer.state_dict()])
        model = reader.nn.Linear(2, 1)
        optimizer = reader.optim.SGD(model.parameters(), lr=9.0)
        model.load_state_dict(state[0])
        optimizer.load_state_dict(state[1])
        losses[writer, reader] = steps(reader, model, optimizer)
    assert list(losses.values()) == pytest.approx([losses[torch, torch]] * 3, rel=1e-5)


def steps(T, model, optimizer):
    for _ in range(3):
        optimizer.zero_grad()
        loss = (model(T.ones(4, 2)) - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()


class Foreign:
    """What no list allows."""


def refusal(library):
    file = io.BytesIO()
    library.save(Foreign(), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError) as caught:
        library.load(file)
    return str(caught.value)


def test_the_refusal_is_pytorchs():
    assert refusal(teachtorch) == refusal(torch)


def error_of(library, prepare):
    with pytest.raises(Exception) as caught:
        prepare(library)
    return type(caught.value)


@pytest.mark.parametrize("mistake", [
    lambda T: T.save(1, 5),
    lambda T: T.load(5),
    lambda T: T.load(io.BytesIO(b"")),
    lambda T: T.load("/no/such/file"),
    lambda T: T.save(1, "/no/such/folder/file"),
    lambda T: T.load(io.BytesIO(b"PK\x03\x04 and no more")),
    lambda T: through_a_file(T, T, T.ones(1), map_location="cuda"),
    lambda T: through_a_file(T, T, T.ones(1), mmap=True),
    lambda T: T.load(io.BytesIO(b"x"), pickle_module=pickle, weights_only=True),
])
def test_mistakes_have_pytorchs_types(mistake):
    assert error_of(teachtorch, mistake) is error_of(torch, mistake)


def raised_by(T, content, **options):
    with pytest.raises(Exception) as error:
        T.load(io.BytesIO(content), **options)
    return error.type


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("content", [b"", b"<html>404", b"\x89PNG", b"\x80\x02}q\x00.", b"PK\x03\x04 but no archive"])
def test_files_of_another_kind(content, weights_only):
    found = raised_by(teachtorch, content, weights_only=weights_only)
    assert found is raised_by(torch, content, weights_only=weights_only)


@pytest.mark.parametrize("location", [3, {}.__getitem__, lambda storage, place: 1 / 0], ids=["number", "key", "zero"])
def test_errors_of_map_location_are_the_users(location):
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    assert raised_by(teachtorch, file.getvalue(), map_location=location) is raised_by(
        torch, file.getvalue(), map_location=location)
