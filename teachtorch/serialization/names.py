"""The names that a file uses for what it holds, and what each of them means here.

A pickle names classes and functions. Files name PyTorch's, so that both libraries read both libraries' files; this
table is the dictionary between the two, and at the same time the list of all that `load` may call.
https://docs.pytorch.org/docs/stable/notes/serialization.html#weights-only-security
"""
import collections

from ..core import device as devices
from ..core import dtype as dtypes
from ..core import layout as layouts
from ..memory.storage import UntypedStorage
from ..tensor import Size, Tensor
from . import rebuild

# Never allowed, even if the user asks for something in them.
BLOCKED_MODULES = ("sys", "os", "posix", "nt")
TEXT_ENCODINGS = ("latin1", "latin-1", "ascii", "utf-8", "utf8")

_STORAGES = {"float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long",
             "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"}
MISSING = {"torch." + name for name in (
    "complex32", "complex64", "complex128", "ComplexFloatStorage", "ComplexDoubleStorage", "uint16", "uint32",
    "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "QInt8Storage",
    "QUInt8Storage", "QInt32Storage", "_utils._rebuild_qtensor",
    "_utils._rebuild_nested_tensor", "_utils._rebuild_wrapper_subclass")}


class StorageType:
    """What a file calls `torch.FloatStorage`: bytes whose elements have one dtype."""

    __slots__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype

    def __repr__(self):
        return f"StorageType(dtype={self.dtype})"


STORAGE_TYPES = {dtype: StorageType(dtype) for dtype in dtypes.ALL}


def encode(text, encoding):
    """`_codecs.encode` for bytes kept as text. Only text encodings: looking for another may import a module."""
    if encoding not in TEXT_ENCODINGS:
        raise ValueError(f"bytes in a file are encoded as latin1, not {encoding!r}")
    return text.encode(encoding)


def mutable_bytes(data=b"", encoding=None):
    """`bytearray` of bytes or text; never of a number, for which Python would take that much memory."""
    if isinstance(data, str):
        data = encode(data, encoding)
    if not isinstance(data, (bytes, list)):
        raise TypeError(f"bytearray of a {type(data).__name__}")
    return bytearray(data)


def layout_of(name):
    """`torch.serialization._get_layout`: layouts are kept by name."""
    found = {str(one): one for one in (layouts.strided, layouts.sparse_coo)}.get(name)
    if found is None:
        raise ValueError(f"unknown layout {name!r}")
    return found


MEANINGS = {
    "collections.OrderedDict": collections.OrderedDict,
    "collections.Counter": collections.Counter,
    "builtins.set": set,
    "builtins.complex": complex,
    "builtins.bytearray": mutable_bytes,
    "_codecs.encode": encode,
    "torch.Size": Size,
    "torch.Tensor": Tensor,
    "torch.device": devices.device,
    "torch.storage.UntypedStorage": UntypedStorage,
    "torch.serialization._get_layout": layout_of,
    "torch._tensor._rebuild_from_type_v2": rebuild.of_type,
    "torch._utils._rebuild_tensor": rebuild.tensor,
    "torch._utils._rebuild_tensor_v2": rebuild.tensor_v2,
    "torch._utils._rebuild_tensor_v3": rebuild.tensor_v3,
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild.tensor_on_meta,
    "torch._utils._rebuild_wrapper_subclass": rebuild.wrapper,
    "torch._utils._rebuild_sparse_tensor": rebuild.sparse_tensor,
    **{f"torch.{dtype.name}": dtype for dtype in dtypes.ALL},
    **{f"torch.{_STORAGES[dtype.name]}Storage": kind for dtype, kind in STORAGE_TYPES.items()},
}
_written = {id(meaning): path for path, meaning in MEANINGS.items() if path.startswith("torch.")}
parameter_class = ()                          # until nn's is known
saved_as_tensor = {Tensor}
_safe_globals = set()                         # what the user allows: objects, or (object, "full.path")


def know(path, meaning):
    """Add a name that files use."""
    MEANINGS[path] = meaning
    _written[id(meaning)] = path


def know_parameters(parameter, buffer):
    """Tell of nn's two classes of tensors; this package knows nothing of nn. A Buffer is kept as a plain tensor."""
    global parameter_class
    parameter_class = parameter
    plain, with_state = rebuild.parameter(parameter)
    know("torch.nn.parameter.Parameter", parameter)
    know("torch._utils._rebuild_parameter", plain)
    know("torch._utils._rebuild_parameter_with_state", with_state)
    saved_as_tensor.add(buffer)


def path_of(obj):
    """The name that files use for an object of ours, or None: then it keeps its Python name."""
    return _written.get(id(obj))


def add_safe_globals(safe_globals):
    """Let `load` use these classes and functions too; (object, "full.path") for one that files name otherwise."""
    _safe_globals.update(safe_globals)


def get_safe_globals():
    """What add_safe_globals has added."""
    return list(_safe_globals)


def clear_safe_globals():
    """Forget what add_safe_globals has added."""
    _safe_globals.clear()


class safe_globals:
    """add_safe_globals for the length of a `with` block."""

    def __init__(self, safe_globals):
        self.safe_globals = safe_globals

    def __enter__(self):
        add_safe_globals(self.safe_globals)

    def __exit__(self, *error):
        _safe_globals.difference_update(self.safe_globals)


def allowed_by_user():
    """{full path: object} of what the user allows. ValueError, TypeError for pairs that are not (object, path)."""
    paths = {}
    for one in _safe_globals:
        obj, path = named_pair(one) if isinstance(one, tuple) else (one, f"{one.__module__}.{one.__qualname__}")
        paths[path] = obj
    return paths


def named_pair(pair):
    if len(pair) != 2:
        raise ValueError("Expected tuple of length 2 (global, str of callable full path), but got tuple of length: "
                         f"{len(pair)}")
    if not isinstance(pair[1], str):
        raise TypeError(f"Expected second item in tuple to be str of callable full path, but got: {type(pair[1])}")
    return pair
