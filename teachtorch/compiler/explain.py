"""What compiling a function does, in words and numbers."""
import operator
from dataclasses import dataclass, field

from .compiled import Compiled, name_of
from .ir import Call
from .program import Program
from .training import Training


@dataclass
class FusedGroup:
    """One fused kernel: which operators it computes, the tensors it reads and writes, bytes moved before and after."""

    name: str
    operators: list
    reads: list                 # [(name, shape, bytes)]
    writes: list
    bytes_before: int
    bytes_after: int
    source: str


@dataclass
class KeptCall:
    """An operator that stays a call of its kernel; `reads` and `writes` as of a FusedGroup."""

    name: str
    operator: str
    reads: list
    writes: list


@dataclass
class GraphReport:
    """One graph, forward or backward: its fused groups, the names of the operators that stay calls, and both
    in the order they run (views, which move nothing, left out)."""

    name: str
    graph: object
    groups: list
    calls: list
    order: list = field(default_factory=list)

    @property
    def bytes_before(self):
        """Bytes that the groups' operators move if each is computed by itself."""
        return sum(g.bytes_before for g in self.groups)

    @property
    def bytes_after(self):
        return sum(g.bytes_after for g in self.groups)


@dataclass
class Explanation:
    """What `explain` returns. `graphs`: forward, then backward if there is one; `reason`: why there is none."""

    name: str
    graphs: list = field(default_factory=list)
    reason: str | None = None
    guards: list = field(default_factory=list)

    @property
    def graph_count(self):
        """How many graphs were captured."""
        return len(self.graphs)

    @property
    def groups(self):
        """The fused groups of all graphs."""
        return [g for graph in self.graphs for g in graph.groups]

    def __str__(self):
        if self.reason is not None:
            return f"{self.name}: no graph, it runs as it is: {self.reason}"
        lines = [f"{self.name}: {len(self.graphs)} graph{'s' * (len(self.graphs) != 1)}, {len(self.guards)} "
                 "guards"]
        for graph in self.graphs:
            lines.append(f"  {graph.name}: {len(graph.groups)} fused kernels, {len(graph.calls)} calls"
                         + (f" ({', '.join(graph.calls)})" if graph.calls else ""))
            lines += [f"    {g.name}: {' '.join(g.operators)}; {g.bytes_before:,} bytes before, "
                      f"{g.bytes_after:,} after"
                      for g in graph.groups]
        return "\n".join(lines)

    __repr__ = __str__


def explain(function):
    """explain(function)(*args): capture this call and return an Explanation; the function itself does not run."""
    compiled = getattr(function, "compiled", None)
    target = compiled.function if isinstance(compiled, Compiled) else function
    backend = compiled.backend if isinstance(compiled, Compiled) else "fused"

    def inner(*args, **kwargs):
        fresh = Compiled(target, False, None, backend)
        return explained(fresh, fresh.captured(args, kwargs))
    return inner


def explanation_of(function):
    """The Explanation of what a compiled function captured last. ValueError if that is nothing yet."""
    compiled = getattr(function, "compiled", None)
    if not isinstance(compiled, Compiled):
        raise ValueError("explanation_of takes what torch.compile returned")
    if not compiled.entries and compiled.refusal is None:
        raise ValueError("nothing is captured yet: call the compiled function first, or use "
                         "explain(function)(*args)")
    return explained(compiled, compiled.entries[0] if compiled.entries else None)


def explained(compiled, entry):
    name = name_of(compiled.function)
    if entry is None or entry.run is None:
        return Explanation(name, reason=compiled.refusal if entry is None else entry.reason)
    guards = [place for _, place in entry.guards.conditions]
    program = entry.run.program
    if isinstance(program, Training):
        graphs = [report_of("forward", program.forward), report_of("backward", program.backward)]
    else:
        graphs = [report_of("forward", program)]
    return Explanation(name, graphs, guards=guards)


def report_of(name, program):
    if not isinstance(program, Program):
        return GraphReport(name, getattr(program, "graph", None), [], [])
    groups = {launch.group: group_of(launch) for launch in program.launches.values()}
    order = [groups[u] if u in groups else call_of(u) for u in program.units if u in groups or is_work(u)]
    calls = [u.operator for u in order if isinstance(u, KeptCall)]
    return GraphReport(name, program.graph, list(groups.values()), calls, order)


def is_work(unit):
    """Whether a unit is a call that does something: no input, no view, no picking of one result of several."""
    return isinstance(unit, Call) and not unit.is_view and unit.target is not operator.getitem


def call_of(call):
    reads = [facts(seen_through(v)) for v in call.operands]
    return KeptCall(call.name, str(call.target), list(dict.fromkeys(reads)), [facts(call)])


def seen_through(value):
    """What a view or one of several results comes from."""
    while isinstance(value, Call) and (value.is_view or value.target is operator.getitem):
        value = value.args[0]
    return value


def group_of(launch):
    operators = [operator_name(v) for v in launch.group.values]
    return FusedGroup(launch.name, operators,
                      [facts(v) for v in dict.fromkeys(map(seen_through, launch.reads))],
                      [facts(v) for v in launch.writes], launch.bytes_before, launch.bytes_after,
                      launch.source)


def operator_name(value):
    """The value's name without its number: the operator it comes from, as fx calls the node."""
    return value.name.partition("_")[2]


def facts(value):
    return value.name, tuple(value.shape), value.nbytes
