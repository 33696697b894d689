"""The file of a traced program: a zip of text and raw bytes, which can be read without running anything.

    version         the format's number
    graph.json      the nodes: operator names, arguments, types; how arguments and results are nested
    code.py         the same as Python, for the reader; loading does not look at it
    tensors/NAME    the bytes of a parameter or buffer, in order, without gaps

Loading looks operators up by name in the table and calls nothing else, so that a file from a stranger can
only name operators. PyTorch's own format is another one.
"""
import json
import keyword
import zipfile

from ..core import dtype as dtypes
from ..core import layout as layouts
from ..core.device import device
from ..core.dtype import dtype
from ..core.layout import layout, memory_format
from ..fx.node import Node
from ..nn import Parameter
from ..ops.declare import exports
from ..ops.namespaces import OpOverload
from ..utils._pytree import TreeSpec
from .graph import Graph
from .module import ScriptModule
from .sizes import FUNCTIONS, NAMES

VERSION = "1"
CONTAINERS = {"tuple": tuple, "list": list, "dict": dict}


def save(m, f, _extra_files=None):
    """Write a traced program to a path or a binary file. `_extra_files`: {name: text or bytes} to put beside it."""
    m = getattr(m, "module", m)
    if not isinstance(m, ScriptModule):
        raise TypeError(f"jit.save writes what jit.trace returned, not {type(m).__name__}")
    with zipfile.ZipFile(f, "w") as archive:
        archive.writestr("version", VERSION)
        archive.writestr("graph.json", json.dumps(described(m), indent=1))
        archive.writestr("code.py", m.code.lstrip("\n"))
        for name, t in m.state_dict().items():
            archive.writestr(f"tensors/{name}", bytes_of(t))
        for name, content in (_extra_files or {}).items():
            archive.writestr(f"extra/{name}", content)


def load(f, map_location=None, _extra_files=None):
    """The program that `save` wrote, as a ScriptModule.

    `map_location`: the device for its tensors. `_extra_files`: a dict whose values are filled with what the
    file has. RuntimeError if it is no such file.
    """
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile:
        raise RuntimeError("this is no file of jit.save: it is no zip archive") from None
    with archive:
        if "graph.json" not in archive.namelist() or archive.read("version").decode() != VERSION:
            raise RuntimeError("this zip archive was not written by this version of jit.save")
        found = json.loads(archive.read("graph.json"))
        tensors = {name: tensor_from(archive.read(f"tensors/{name}"), about, map_location)
                   for name, about in found["tensors"].items()}
        for name in _extra_files or {}:
            _extra_files[name] = archive.read(f"extra/{name}")
    module = ScriptModule(tensors, graph_from(found["nodes"]), spec_from(found["arguments"]),
                          spec_from(found["results"]), found["name"])
    module.training = found["training"]
    return module


# ---- tensors ---------------------------------------------------------------------------------------------

def bytes_of(t):
    flat = t.detach().cpu().contiguous().reshape(-1)
    return flat.view(DTYPES["uint8"]).numpy().tobytes() if t.numel() else b""


def tensor_from(content, about, map_location):
    """A Parameter, or a tensor that becomes a buffer."""
    kind = DTYPES[about["dtype"]]
    t = exports[""]["frombuffer"](bytearray(content), dtype=kind).reshape(about["shape"]) if content else \
        exports[""]["empty"](about["shape"], dtype=kind)
    t = t.to(map_location) if map_location is not None else t
    return Parameter(t, about["requires_grad"]) if about["is_parameter"] else t


DTYPES = {value.name: value for value in vars(dtypes).values() if isinstance(value, dtype)}


# ---- the graph as JSON -----------------------------------------------------------------------------------

def described(m):
    """Everything but the bytes."""
    parameters = dict(m.named_parameters(remove_duplicate=False))
    tensors = {name: {"dtype": t.dtype.name, "shape": list(t.shape), "is_parameter": name in parameters,
                      "requires_grad": name in parameters and parameters[name].requires_grad}
               for name, t in m.state_dict().items()}
    return {"name": type(m).__name__, "training": m.training, "tensors": tensors,
            "arguments": spec_as_json(m.in_spec), "results": spec_as_json(m.out_spec),
            "nodes": [node_as_json(node) for node in m.graph.nodes]}


def node_as_json(node):
    target = node.target
    if isinstance(target, OpOverload):
        target = str(target)
    elif target in NAMES:
        target = NAMES[target]
    return {"name": node.name, "op": node.op, "target": target, "args": as_json(node.args),
            "kwargs": as_json(dict(node.kwargs)),
            "meta": {k: v for k, v in node.meta.items() if isinstance(v, str)}}


def as_json(value):
    """An argument; what JSON has not is written as {"kind": ...}."""
    if isinstance(value, Node):
        return {"kind": "node", "name": value.name}
    if isinstance(value, (tuple, list)):
        return {"kind": "tuple" if isinstance(value, tuple) else "list", "items": [as_json(v) for v in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "items": {key: as_json(v) for key, v in value.items()}}
    if isinstance(value, (float, complex)):
        return {"kind": type(value).__name__, "text": repr(value)}
    if isinstance(value, (dtype, device, layout, memory_format)):
        return {"kind": type(value).__name__, "text": str(value).removeprefix("torch.")}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    raise TypeError(f"a graph with a {type(value).__name__} among its arguments cannot be written")


def graph_from(nodes):
    graph, made = Graph(), {}
    for about in nodes:
        args, kwargs = from_json(about["args"], made), from_json(about["kwargs"], made)
        check_names(kwargs)
        node = graph.create_node(about["op"], target_from(about), args, kwargs, about["name"])
        node.meta.update(about["meta"])
        made[about["name"]] = node
    return graph


def check_names(names):
    """RuntimeError for what would not be a name in the Python that the graph becomes, but code of the file's own."""
    for name in names:
        if not (isinstance(name, str) and (name.isidentifier() or name.isdigit()) and not keyword.iskeyword(name)):
            raise RuntimeError(f"the file has {name!r} where a name should be")


def target_from(about):
    """The operator of a call; RuntimeError for what is none."""
    if about["op"] in ("placeholder", "get_attr", "output"):
        check_names(about["target"].split("."))
        return about["target"]
    if about["op"] != "call_function":  # a method would be any method of any object
        raise RuntimeError(f"the file has a node of the kind {about['op']}, which a trace has not")
    if about["target"] in FUNCTIONS:
        return FUNCTIONS[about["target"]]
    from .. import ops

    place = ops
    for atom in about["target"].split("."):
        place = getattr(place, atom, None)
    if not isinstance(place, OpOverload):
        raise RuntimeError(f"the file names an operator that is not known: {about['target']}")
    return place


def from_json(value, made):
    if not isinstance(value, dict):
        return value
    kind = value["kind"]
    if kind == "node":
        if value["name"] not in made:
            raise RuntimeError(f"the file uses a node that it has not: {value['name']!r}")
        return made[value["name"]]
    if kind in ("tuple", "list"):
        return CONTAINERS[kind]([from_json(v, made) for v in value["items"]])
    if kind == "dict":
        return {key: from_json(v, made) for key, v in value["items"].items()}
    if kind not in CONSTANTS:
        raise RuntimeError(f"the file has an argument of an unknown kind: {kind!r}")
    return CONSTANTS[kind](value["text"])


def constant_of_layout(name):
    found = getattr(layouts, name, None)
    if not isinstance(found, (layout, memory_format)):
        raise RuntimeError(f"the file names a layout that is not known: {name}")
    return found


CONSTANTS = {"float": float, "complex": complex, "dtype": DTYPES.__getitem__, "device": device,
             "layout": constant_of_layout, "memory_format": constant_of_layout}


def spec_as_json(spec):
    if spec.is_leaf():
        return None
    if spec.type not in CONTAINERS.values():
        raise TypeError(f"a program that takes or returns a {spec.type.__name__} cannot be written")
    return {"type": spec.type.__name__, "context": spec.context,
            "children": [spec_as_json(c) for c in spec.children_specs]}


def spec_from(found):
    if found is None:
        return TreeSpec(None, None, ())
    return TreeSpec(CONTAINERS[found["type"]], found["context"],
                    tuple([spec_from(c) for c in found["children"]]))
