"""`teachtorch.ops` as a table: iterate it, index it by name, print it."""
import types
from pathlib import Path
from typing import NamedTuple

from ..dispatch import keys as K
from ..dispatch.operator import registry
from .namespaces import namespace


class OperatorTable(types.ModuleType):
    """The module `teachtorch.ops`, which also is the list of declared operators.

    >>> import teachtorch
    >>> teachtorch.ops["mul"].schema
    'mul(self, other)'
    """

    def __getattr__(self, name):
        """A namespace of operators: `torch.ops.aten`, `torch.ops.mylib`."""
        if name.startswith("__"):
            raise AttributeError(f"module 'teachtorch.ops' has no attribute {name!r}")
        return namespace(name)

    def __iter__(self):
        return iter([Row(op) for _, op in sorted(registry.items()) if op.info is not None])

    def __len__(self):
        return sum(op.info is not None for op in registry.values())

    def __getitem__(self, name):
        if name not in registry:
            raise KeyError(f"there is no operator {name!r}")
        return Row(registry[name])

    def __repr__(self):
        return "\n".join([HEADER, *map(str, self)])


class Served(NamedTuple):
    """What serves an operator at a key.

    `how`: "own" (registered for this very key), "CompositeExplicit", "CompositeImplicit", "made" (from the
    declaration), "fallback" (one for all operators), "fallthrough" (the key is skipped) or "missing" (a backend
    without a kernel). `where`: "ops/matmul.py:26", the kernel's code; "" if there is none.
    """

    how: str
    where: str


class Row:
    """One operator: `name`, `schema`, `kind`, `kernels` (the keys that have one), `vjp` (the differentiable
    arguments), `jvp`, `fake` (whether it has a rule), `doc`, `cuda` (how it runs on a GPU)."""

    def __init__(self, op):
        self._op = op
        info = op.info
        self.name = op.name
        self.schema = op.name + str(info.signature)
        self.kind = info.kind
        self.kernels = op.describe_kernels().split(", ")
        self.vjp = info.vjp
        self.jvp = info.jvp if info.jvp is None or isinstance(info.jvp, str) else "formula"
        self.fake = info.fake is not None or info.kind in ("view", "composite", "like")
        self.doc = info.function.__doc__

    @property
    def cuda(self):
        """"kernel" (ops/on_cuda has one), "host" (the CPU's, on copies), or "composed" (of other operators)."""
        from .on_cuda import kernel_of

        if kernel_of(self._op) is not None:
            return "kernel"
        return "host" if K.CPU in self._op.kernels else "composed"

    def served(self, key, keys=("CPU",)):
        """What serves this operator at a key, such as "CPU" or "Autograd", in a call with these keys: autograd takes a
        composition apart unless the call's backend has a kernel. KeyError if there is no such key."""
        how, kernel = self._op.service(K.OF_NAME[key], sum(K.OF_NAME[name] for name in keys))
        if how == "fallthrough":
            return Served("missing" if K.OF_NAME[key] & (K.BACKENDS | K.SPARSE_CPU) else how, "")
        return Served(how, place_of(kernel, self._op.info))

    def __repr__(self):
        return LAYOUT.format(self.schema[:60], self.kind, ",".join(self.kernels), ",".join(self.vjp) or "-",
                             self.jvp or "-", "yes" if self.fake else "-")


ADAPTERS = ("declare.py", "elementwise.py", "creation.py")     # their kernels only call the declared function


def place_of(kernel, info):
    """Where a kernel's code stands: "ops/matmul.py:26", or the title of a text that was generated for the operator."""
    code = getattr(kernel, "__code__", None)
    if code is None:
        return type(kernel).__name__
    is_around_declared = code.co_filename.startswith("<CPU") or Path(code.co_filename).name in ADAPTERS
    if is_around_declared and "ad_inplace" not in code.co_name and getattr(info.function, "__code__", None):
        code = info.function.__code__
    if code.co_filename.startswith("<"):
        return f"generated: {code.co_filename[1:-1]}"
    return f"{short_path(code.co_filename)}:{code.co_firstlineno}"


def short_path(filename):
    """A file's path below this package; of other files only the name."""
    package = Path(__file__).parents[1]
    path = Path(filename)
    return path.relative_to(package).as_posix() if path.is_relative_to(package) else path.name


LAYOUT = "{:60} {:10} {:36} {:16} {:12} {}"
HEADER = LAYOUT.format("schema", "kind", "kernels", "vjp", "jvp", "fake")
