"""`teachtorch.ops` as a table: iterate it, index it by name, print it."""
import types

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


class Row:
    """One operator: `name`, `schema`, `kind`, `kernels` (the keys that have one), `vjp` (the differentiable
    arguments), `jvp`, `fake` (whether it has a rule), `doc`."""

    def __init__(self, op):
        info = op.info
        self.name = op.name
        self.schema = op.name + str(info.signature)
        self.kind = info.kind
        self.kernels = op.describe_kernels().split(", ")
        self.vjp = info.vjp
        self.jvp = info.jvp if info.jvp is None or isinstance(info.jvp, str) else "formula"
        self.fake = info.fake is not None or info.kind in ("view", "composite")
        self.doc = info.function.__doc__

    def __repr__(self):
        return LAYOUT.format(self.schema[:60], self.kind, ",".join(self.kernels), ",".join(self.vjp) or "-",
                             self.jvp or "-", "yes" if self.fake else "-")


LAYOUT = "{:60} {:10} {:36} {:16} {:12} {}"
HEADER = LAYOUT.format("schema", "kind", "kernels", "vjp", "jvp", "fake")
