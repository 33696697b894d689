"""Every public name of torch.nn is here, except those that are listed with the reason."""

import importlib
import pkgutil
import types

import pytest

import teachtorch

torch = pytest.importorskip("torch")

NOT_HERE = {
    "quantisation": {"intrinsic", "qat", "quantizable", "quantized"},
    "PyTorch's own helpers": {
        "common_types",
        "factory_kwargs",
        "LinearCrossEntropyOptions",
        "linear_cross_entropy_options",
        "Container",
        "swap_tensors_enabled",
    },
    "scaled and grouped products": {
        "ScalingType",
        "SwizzleType",
        "grouped_mm",
        "scaled_grouped_mm",
        "scaled_mm",
    },
    "scripting": {
        "boolean_dispatch",
        "assert_int_or_pair",
        "handle_torch_function",
        "has_torch_function",
        "has_torch_function_unary",
        "has_torch_function_variadic",
        "BroadcastingList1",
        "BroadcastingList2",
        "BroadcastingList3",
        "GRID_SAMPLE_INTERPOLATION_MODES",
        "GRID_SAMPLE_PADDING_MODES",
        "native_channel_shuffle",
        "DType",
    },
}
MISSING = set().union(*NOT_HERE.values())
TYPING = {
    "Any",
    "Callable",
    "Literal",
    "NamedTuple",
    "Optional",
    "OrderedDict",
    "ParamSpec",
    "Self",
    "Tensor",
    "TYPE_CHECKING",
    "TypeVar",
    "UninitializedTensorMixin",
    "bind",
    "torch",
    "PackedSequence_",
    "copy_method_params",
}


def public(module):
    return {name for name in dir(module) if name[0] != "_" and not name.endswith("_notes")}


def is_wanted(value, path):
    """Files are names of torch.nn only; elsewhere they are what a file happens to import."""
    return not isinstance(value, types.ModuleType) or path == "nn" and value.__name__.startswith("torch.nn.")


@pytest.mark.parametrize(
    "path",
    [
        "nn",
        "nn.functional",
        "nn.init",
        "nn.parameter",
        "nn.utils",
        "nn.utils.rnn",
        "nn.grad",
        "nn.utils.parametrize",
        "nn.utils.parametrizations",
        "nn.utils.prune",
        "nn.modules",
    ],
)
def test_names(path):
    theirs, ours = importlib.import_module(f"torch.{path}"), importlib.import_module(f"teachtorch.{path}")
    wanted = {
        name for name in getattr(theirs, "__all__", public(theirs)) if is_wanted(getattr(theirs, name), path)
    }
    assert {name for name in wanted - MISSING - TYPING if not hasattr(ours, name)} == set()


def test_the_list_of_what_is_missing_is_not_too_long():
    found = {
        name
        for name in MISSING
        for library in (teachtorch.nn, teachtorch.nn.functional)
        if hasattr(library, name)
    }
    assert found == set()


@pytest.mark.parametrize(
    "path", "nn optim optim.lr_scheduler optim.swa_utils nn.utils.prune utils.data distributions fx".split()
)
def test_classes_derive_from_the_same_classes(path):
    """`isinstance(layer, nn.Softmax)` is False for a LogSoftmax, and `isinstance(layer, nn.ConstantPad2d)` True for a
    ZeroPad2d."""
    theirs, ours = importlib.import_module(f"torch.{path}"), importlib.import_module(f"teachtorch.{path}")
    names = [name for name in public(theirs) & public(ours) if isinstance(getattr(theirs, name), type)]
    pairs = [(a, b) for a in names for b in names if is_plain(theirs, a) and is_plain(theirs, b)]
    found, wanted = [
        {f"{a} is a {b}" for a, b in pairs if issubclass(getattr(library, a), getattr(library, b))}
        for library in (ours, theirs)
    ]
    assert len(wanted) >= len(names) / 2 and found ^ wanted == set()


def is_plain(library, name):
    """Whether it is a class of the library's, and no name of `typing`."""
    return getattr(library, name).__module__.startswith("torch")


@pytest.mark.parametrize(
    "name", [m.name for m in pkgutil.iter_modules(torch.nn.modules.__path__) if m.name[0] != "_"]
)
def test_files_of_the_modules(name):
    """`from torch.nn.modules.conv import Conv2d`, and what users derive from: _Loss, _BatchNorm, _ConvNd."""
    if name in MISSING or name == "linear_cross_entropy":
        return
    theirs = importlib.import_module(f"torch.nn.modules.{name}")
    ours = importlib.import_module(f"teachtorch.nn.modules.{name}")
    classes = {
        key
        for key, value in vars(theirs).items()
        if isinstance(value, type) and value.__module__ == theirs.__name__
    }
    private = {"_Loss", "_WeightedLoss", "_BatchNorm", "_NormBase", "_ConvNd", "_DropoutNd", "_MaxPoolNd"}
    wanted = {key for key in classes if key[0] != "_" or key in private} - MISSING
    absent = {key for key in wanted if not hasattr(ours, key)}
    assert absent <= {"NonDynamicallyQuantizableLinear"}


@pytest.mark.parametrize(
    "name",
    sorted(
        n
        for n in dir(torch.nn)
        if isinstance(getattr(torch.nn, n), type)
        and issubclass(getattr(torch.nn, n), torch.nn.Module)
        and n not in MISSING
    ),
)
def test_methods(name):
    """Every public method and attribute of PyTorch's module class."""
    theirs, ours = getattr(torch.nn, name), getattr(teachtorch.nn, name)
    later = {"compile", "cuda", "ipu", "xpu", "mtia", "dump_patches", "T_destination", "merge_masks"}
    later |= {"gather", "parallel_apply", "replicate", "scatter"} if name == "DataParallel" else set()
    assert {key for key in public(theirs) - later if not hasattr(ours, key)} == set()


def test_tuples_of_module_utils():
    from torch.nn.modules import utils as theirs

    from teachtorch.nn.modules import utils as ours

    for name in ("_single", "_pair", "_triple", "_quadruple"):
        for value in (3, (1, 2), [1, 2, 3]):
            assert getattr(ours, name)(value) == getattr(theirs, name)(value)
    assert ours._reverse_repeat_tuple((1, 2), 2) == theirs._reverse_repeat_tuple((1, 2), 2)
    assert ours._list_with_default([None, 2], [5, 6, 7]) == theirs._list_with_default([None, 2], [5, 6, 7])
