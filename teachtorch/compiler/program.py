"""A lowered graph as straight Python: one line for each kernel and each call that is left.

    def program(arg_0, held_0):
        b1, = group_1(array_of(arg_0))
        t_1 = from_array(b1)
        addmm = aten_addmm(held_0, t_1)
        ...

Values come as arrays from kernels and as tensors from calls, and turn into the other when asked.
"""
from ..core.generated import function_from
from ..tensor import array_of, from_array
from .fuse import Group, Grouping, needed
from .ir import Call, Input, Value
from .launch import Launch
from .lowering import Lowering


class Program:
    """A graph made ready to run: call it with its inputs, it returns a tuple of its outputs.

    Attributes: launches (the groups' kernels), calls (the operators that are left), source (the text of the
    function).
    """

    def __init__(self, graph, name="program"):
        self.graph, self.name = graph, name
        lowering = Lowering(graph)
        self.inputs, self.outputs = lowering.run()
        found = [v for v in self.outputs if v is not None]
        grouping = Grouping(needed(found, lowering.ordered))
        self.units, self.wanted = grouping.in_order(found, lowering.ordered)
        self.launches, self.calls = {}, []
        self.scope = {"array_of": array_of, "from_array": from_array}
        self.run = function_from(self.write(), name, f"compiled {name}", self.scope)

    def __call__(self, *tensors):
        return self.run(*tensors)

    @property
    def source(self):
        """The text of the function."""
        return self.run.source

    # ---- writing -------------------------------------------------------------------------------------------

    def write(self):
        """The text of the function; what it calls goes into its scope."""
        self.arrays, self.tensors = set(), {v for v in self.inputs}     # in which form a value is at hand
        lines = []
        last = self.last_uses()
        for i, unit in enumerate(self.units):
            if isinstance(unit, Group):
                lines += self.lines_of_group(unit)
            elif isinstance(unit, Call):
                lines += self.lines_of_call(unit)
            lines += self.forget(last.get(i, ()))
        lines += self.lines_of_outputs()
        names = ", ".join([v.name for v in self.inputs])
        return f"def {self.name}({names}):\n" + "\n".join([f"    {line}" for line in lines]) + "\n"

    def last_uses(self):
        """{index of a unit: the values that nobody needs after it}."""
        last = {}
        for i, unit in enumerate(self.units):
            taken = [o for o, _ in unit.reads()] if isinstance(unit, Group) else unit.operands
            made = unit.writes(self.wanted) if isinstance(unit, Group) else [unit]
            for v in [*made, *taken]:
                last[v] = i
        found = {}
        for v, i in last.items():
            if v not in self.outputs and not isinstance(v, Input):
                found.setdefault(i, []).append(v)
        return found

    def forget(self, values):
        names = [f"{prefix}_{v.name}" for v in values for prefix,
                 have in (("a", self.arrays), ("t", self.tensors))
                 if v in have]
        return [f"del {', '.join(names)}"] if names else []

    def as_array(self, value, lines):
        """The name under which a value is at hand as an array."""
        if value not in self.arrays:
            self.arrays.add(value)
            lines.append(f"a_{value.name} = array_of({self.tensor_name(value)})")
        return f"a_{value.name}"

    def as_tensor(self, value, lines):
        if value not in self.tensors:
            self.tensors.add(value)
            lines.append(f"t_{value.name} = from_array(a_{value.name})")
        return self.tensor_name(value)

    def tensor_name(self, value):
        return value.name if isinstance(value, Input) else f"t_{value.name}"

    def lines_of_group(self, group):
        group.name = f"group_{len(self.launches) + 1}"
        launch = self.launches[group.name] = Launch(group, self.wanted)
        self.scope[group.name] = launch
        lines = []
        reads = [self.as_array(v, lines) for v in launch.reads]
        self.arrays.update(launch.writes)
        written = "".join([f"a_{v.name}, " for v in launch.writes]).rstrip()
        return [*lines, f"{written} = {group.name}({', '.join(reads)})"]

    def lines_of_call(self, call):
        name = f"call_{call.name}"
        self.calls.append(call)
        self.scope[name] = call.target
        lines = []
        arguments = [self.argument(a, lines) for a in call.args]
        arguments += [f"{k}={self.argument(a, lines)}" for k, a in call.kwargs.items()]
        self.tensors.add(call)
        return [*lines, f"t_{call.name} = {name}({', '.join(arguments)})"]

    def argument(self, argument, lines):
        """The text of a call's argument. What cannot be written down goes into the scope."""
        if isinstance(argument, Value):
            return self.as_tensor(argument, lines)
        if isinstance(argument, (list, tuple)):
            parts = [self.argument(a, lines) for a in argument]
            inside = ", ".join(parts) + ("," if len(parts) == 1 else "")
            return f"[{', '.join(parts)}]" if isinstance(argument, list) else f"({inside})"
        if argument is None or type(argument) in (bool, int, str):
            return repr(argument)
        name = f"constant_{len(self.scope)}"
        self.scope[name] = argument
        return name

    def lines_of_outputs(self):
        """What is returned: tensors, each an object of its own."""
        lines, given, seen = [], [], set()
        for v in self.outputs:
            if v is None:
                given.append("None")
                continue
            text = self.as_tensor(v, lines)
            if v in seen:
                text += ".clone()"
            elif isinstance(v, Input):
                text += ".detach()"
            seen.add(v)
            given.append(text)
        return [*lines, f"return ({', '.join(given)}{',' * (len(given) == 1)})"]
