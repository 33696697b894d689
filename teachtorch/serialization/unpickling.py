"""Pickles to objects, by two readers: one that can make only what a list allows, and Python's own.

A pickle is a small program for a machine with a stack. `WeightsUnpickler` is that machine with few instructions: it
takes names from the list only, calls only what came from it, and appends to plain lists and dicts only.
https://docs.python.org/3/library/pickletools.html lists the instructions.
"""
import importlib
import pickle
import pickletools
import struct
import warnings
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict

from . import names

UNSAFE = ("In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to "
          "`True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result "
          "in arbitrary code execution. Do it only if you got the file from a trusted source.")
TWO_OPTIONS = ("Weights only load failed. This file can still be loaded, to do so you have two options, "
               "\033[1mdo those steps only if you trust the source of the checkpoint\033[0m. \n\t(1) {}\n\t(2) "
               "Alternatively, to load with `weights_only=True` please check the recommended steps in the following "
               "error message.\n\tWeightsUnpickler error: {}")
NOT_ALLOWED = ("Unsupported global: GLOBAL {0} was not an allowed global by default. Please use "
               "`torch.serialization.add_safe_globals([{0}])` or the `torch.serialization.safe_globals([{0}])` context "
               "manager to allowlist this global if you trust this class/function.")
SEE_DOCS = ("\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
            "https://pytorch.org/docs/stable/generated/torch.load.html.")
DEFAULT_PROTOCOL = 2


def weights_only_message(message):
    """What load says of a pickle that it refuses."""
    if "was not an allowed global by default" in message:
        return TWO_OPTIONS.format(UNSAFE, message) + SEE_DOCS
    return f"Weights only load failed. {UNSAFE}\n\n\n{message}" + SEE_DOCS


def full_path(module, name):
    """The Python 3 name of what a pickle of protocol 2 names."""
    module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
    return module, f"{module}.{name}"


class WeightsUnpickler:
    """Reads one pickle from a file object. UnpicklingError for all that is not on the list, or is damaged."""

    def __init__(self, file, persistent_load, encoding="utf-8"):
        self.file, self.persistent_load, self.encoding = file, persistent_load, encoding
        self.stack, self.marked, self.memo = [], [], {}
        self.by_user = names.allowed_by_user()
        self.trusted = {}                        # id -> what the pickle has named so far; nothing else is called

    def load(self):
        """The object."""
        try:
            while (code := self.take(1)) != pickle.STOP:
                instruction = INSTRUCTIONS.get(code)
                if instruction is None:
                    raise pickle.UnpicklingError(f"Unsupported operand {code[0]}")
                instruction(self)
            return self.stack.pop()
        except (pickle.UnpicklingError, RuntimeError):
            raise
        except Exception as error:
            raise pickle.UnpicklingError(f"the pickle is damaged: {type(error).__name__}: {error}") from error

    def take(self, count):
        data = self.file.read(count)
        if len(data) < count:
            raise pickle.UnpicklingError("the pickle is damaged: it ends too early")
        return data

    def number(self, code):
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def push(self, value):
        self.stack.append(value)

    def since_mark(self):
        items, self.stack = self.stack, self.marked.pop()
        return items

    # ---- the instructions that could do harm --------------------------------------------------------------------

    def name_global(self):
        module, name = (self.file.readline()[:-1].decode() for _ in range(2))
        module, path = full_path(module, name)
        if module in names.BLOCKED_MODULES:
            raise pickle.UnpicklingError(f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked.")
        if path in names.MISSING:
            raise pickle.UnpicklingError(f"teachtorch has no {path}, which this file needs")
        for allowed in (names.MEANINGS, self.by_user):
            if path in allowed:
                self.trusted[id(allowed[path])] = allowed[path]
                self.push(allowed[path])
                return
        raise pickle.UnpicklingError(NOT_ALLOWED.format(path.removeprefix("builtins.")))

    def call(self):
        arguments, function = self.stack.pop(), self.stack.pop()
        if id(function) not in self.trusted:
            raise pickle.UnpicklingError(f"Trying to call reduce for unrecognized function {function}")
        self.push(function(*arguments))

    def new_object(self):
        arguments, cls = self.stack.pop(), self.stack.pop()
        if not any(cls is one for one in (OrderedDict, Counter, set, names.parameter_class, *self.by_user.values())):
            raise pickle.UnpicklingError("Can only create new object for nn.Parameter or classes allowlisted via "
                                         f"`add_safe_globals` but got {cls}")
        self.push(cls.__new__(cls, *arguments))

    def build(self):
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is OrderedDict:
            target.__dict__.update(state)
        elif any(type(target) is one for one in self.by_user.values()):
            set_state(target, state)
        else:
            raise pickle.UnpicklingError("Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                                         f"`add_safe_globals`, but got {type(target)}")

    def load_persistent(self):
        identity = self.stack.pop()
        if type(identity) is not tuple or not identity or identity[0] not in ("storage", b"storage"):
            raise pickle.UnpicklingError(f"Only persistent_load of storage is allowed, but got {identity!r:.80}")
        self.push(self.persistent_load(identity))

    # ---- containers ---------------------------------------------------------------------------------------------

    def mark(self):
        self.marked.append(self.stack)
        self.stack = []

    def append(self):
        self.extend([self.stack.pop()])

    def extend(self, items=None):
        items = self.since_mark() if items is None else items
        if type(self.stack[-1]) is not list:
            raise pickle.UnpicklingError(f"Can only append to lists, but got {type(self.stack[-1])}")
        self.stack[-1].extend(items)

    def set_item(self):
        value, key = self.stack.pop(), self.stack.pop()
        self.set_items([key, value])

    def set_items(self, items=None):
        items = self.since_mark() if items is None else items
        if type(self.stack[-1]) not in (dict, OrderedDict, Counter):
            raise pickle.UnpicklingError("Can only SETITEM for dict, collections.OrderedDict, collections.Counter, but "
                                         f"got {type(self.stack[-1])}")
        self.stack[-1].update(zip(items[::2], items[1::2], strict=True))

    def make_tuple(self, count):
        items = self.stack[-count:]
        if len(items) < count:
            raise IndexError("the stack is too short")
        self.stack[-count:] = [tuple(items)]

    # ---- values -------------------------------------------------------------------------------------------------

    def text(self):
        self.push(str(self.take(self.number("<I")), "utf-8", "surrogatepass"))

    def short_bytes(self):
        data = self.take(self.number("B"))
        self.push(data if self.encoding == "bytes" else data.decode(self.encoding))

    def get(self, code):
        self.push(self.memo[self.number(code)])

    def put(self, code):
        self.memo[self.number(code)] = self.stack[-1]

    def protocol(self):
        protocol = self.number("B")
        if protocol != DEFAULT_PROTOCOL:
            warnings.warn(f"Detected pickle protocol {protocol} in the checkpoint, which was not the default pickle "
                          "protocol used by `torch.load` (2). The weights_only Unpickler might not support all "
                          "instructions implemented by this protocol.", stacklevel=5)


def set_state(target, state):
    """As Python's unpickler does for BUILD."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    target.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(target, name, value)


INSTRUCTIONS = {
    pickle.GLOBAL: WeightsUnpickler.name_global, pickle.REDUCE: WeightsUnpickler.call,
    pickle.NEWOBJ: WeightsUnpickler.new_object, pickle.BUILD: WeightsUnpickler.build,
    pickle.BINPERSID: WeightsUnpickler.load_persistent,
    pickle.MARK: WeightsUnpickler.mark, pickle.APPEND: WeightsUnpickler.append,
    pickle.APPENDS: WeightsUnpickler.extend, pickle.SETITEM: WeightsUnpickler.set_item,
    pickle.SETITEMS: WeightsUnpickler.set_items,
    pickle.TUPLE: lambda machine: machine.push(tuple(machine.since_mark())),
    pickle.TUPLE1: lambda machine: machine.make_tuple(1), pickle.TUPLE2: lambda machine: machine.make_tuple(2),
    pickle.TUPLE3: lambda machine: machine.make_tuple(3),
    pickle.EMPTY_TUPLE: lambda machine: machine.push(()), pickle.EMPTY_LIST: lambda machine: machine.push([]),
    pickle.EMPTY_DICT: lambda machine: machine.push({}), pickle.EMPTY_SET: lambda machine: machine.push(set()),
    pickle.NONE: lambda machine: machine.push(None), pickle.NEWTRUE: lambda machine: machine.push(True),
    pickle.NEWFALSE: lambda machine: machine.push(False),
    pickle.BININT: lambda machine: machine.push(machine.number("<i")),
    pickle.BININT1: lambda machine: machine.push(machine.number("B")),
    pickle.BININT2: lambda machine: machine.push(machine.number("<H")),
    pickle.BINFLOAT: lambda machine: machine.push(machine.number(">d")),
    pickle.LONG1: lambda machine: machine.push(pickle.decode_long(machine.take(machine.number("B")))),
    pickle.BINUNICODE: WeightsUnpickler.text, pickle.SHORT_BINSTRING: WeightsUnpickler.short_bytes,
    pickle.BINGET: lambda machine: machine.get("B"), pickle.LONG_BINGET: lambda machine: machine.get("<I"),
    pickle.BINPUT: lambda machine: machine.put("B"), pickle.LONG_BINPUT: lambda machine: machine.put("<I"),
    pickle.PROTO: WeightsUnpickler.protocol,
}


def globals_of(pickled):
    """The full paths of all that a pickle names, without running it."""
    found = {argument for code, argument, _ in pickletools.genops(pickled) if code.name == "GLOBAL"}
    return {full_path(*argument.split(" ", 1))[1] for argument in found}


# ---- all of Python, for files that are trusted ------------------------------------------------------------------

def trusting_unpickler(pickle_module, file, persistent_load, **options):
    """Python's unpickler, which runs whatever the file says; PyTorch's names mean ours."""
    class Unpickler(pickle_module.Unpickler):
        def find_class(self, module, name):
            path = f"{module}.{name}"
            if path in names.MEANINGS:
                return names.MEANINGS[path]
            return ours(module, name) if module.partition(".")[0] == "torch" else super().find_class(module, name)

    unpickler = Unpickler(file, **options)
    unpickler.persistent_load = persistent_load
    return unpickler


def ours(module, name):
    """What PyTorch's class or function of that name is here. UnpicklingError if there is none."""
    package = __name__.partition(".")[0]
    for place in (module.replace("torch", package, 1), f"{package}.nn" if module.startswith("torch.nn.") else None):
        try:
            return getattr(importlib.import_module(place), name)
        except (ImportError, AttributeError, ValueError):
            continue
    raise pickle.UnpicklingError(f"teachtorch has no {module}.{name}, which this file needs")
