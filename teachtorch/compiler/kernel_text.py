"""The source of a group's kernel: a module with a function that Numba compiles.

    def kernel(tensors read, tensors written, sums, sizes, strides, row, last_row, begin, end):
        while row < last_row:
            where each tensor's row starts
            one loop over the row for each phase                  a reduction's result is there after its loop
            row += 1

Sizes and strides are arguments, so that one module serves all shapes that are walked in the same way, and the
next process finds it on disk. One-element functions are copied in from `kernels/scalar.py` by
`kernels.codegen.Translator`.
"""
import math

from ..core import dtype as dt
from ..kernels import codegen
from ..kernels.scalar import (
    from_key_float32,
    from_key_float64,
    key_float32,
    key_float64,
)
from .fuse import COLUMNS, FULL, ROW, TOTAL
from .ir import Reduce, Value
from .rules import WHERE

CHEAP = 12                              # operations that are done again rather than kept in a row of memory
LOWEST = {"float32": "np.int32(-2147483648)", "float64": "np.int64(-9223372036854775807)"}
HIGHEST = {"float32": "np.int32(2147483647)", "float64": "np.int64(9223372036854775807)"}
PLUS = '''@njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath={"reassoc", "nsz"})
def plus(a, b):
    return a + b
'''


class KernelText:
    """Writes one group's kernel.

    Args:
        group: the Group.
        reads: [(value, level, letter)] in the order of the arguments; letters as in
            kernels.codegen.strided_loop.
        writes: [(value, letter)].
        outer: how many loops there are around a row.
    """

    def __init__(self, group, reads, writes, outer):
        self.group, self.reads, self.writes, self.outer = group, reads, writes, outer
        self.translators = {}
        self.names = {v: f"v{i}" for i, v in enumerate(group.levels)}
        self.places = {(v, level): i for i, (v, level, _) in enumerate(reads)}
        self.out_places = {v: i for i, (v, _) in enumerate(writes)}
        self.phases = self.find_phases()
        self.kept = self.find_kept()

    # ---- phases --------------------------------------------------------------------------------------------

    def find_phases(self):
        """{value: the first loop over the row in which it can be computed}."""
        phases = {}
        for v, level in self.group.levels.items():
            before = [phases[m] for m in self.members(v)]
            phases[v] = max(before, default=0) + (level == ROW and isinstance(v, Reduce))
        return phases

    def members(self, value):
        found = [self.group.member(o) for o in value.operands if isinstance(o, Value)]
        return [m for m in found if m is not None]

    def roots(self, phase):
        """The full values that the loop of a phase must compute: operands of sums, and what is written."""
        level, found = self.group.levels, []
        for v in self.group.levels:
            if isinstance(v, Reduce) and self.loop_of(v) == phase and v.operands[0] in level:
                found.append(v.operands[0])
            elif level[v] == FULL and v in self.out_places and self.phases[v] == phase:
                found.append(v)
        return found

    def loop_of(self, reduce):
        """The phase in whose loop a reduction goes over its operand."""
        own = self.phases[reduce]
        return own - 1 if self.group.levels[reduce] == ROW else own

    def last_phase(self):
        return max([self.phases[v] for v, lv in self.group.levels.items() if lv == FULL
                    or isinstance(v, Reduce)
                    and lv != ROW] + [self.loop_of(v) for v in self.group.levels if isinstance(v, Reduce)],
                    default=0)

    def find_kept(self):
        """The full values that a later loop needs and that are dearer to compute again than to keep."""
        kept = []
        for phase in range(self.last_phase(), -1, -1):
            stack = [*self.roots(phase), *[v for v in kept if self.phases[v] == phase]]
            seen = set()
            while stack:
                v = stack.pop()
                if v in seen or self.group.levels[v] != FULL:
                    continue
                seen.add(v)
                if self.phases[v] < phase and v in self.out_places:
                    continue
                if self.phases[v] < phase and self.cost(v) > CHEAP:
                    kept += [v] if v not in kept else []
                    continue
                stack += self.members(v)
        return kept

    def cost(self, value):
        """Operations to compute a full value from what is read."""
        found, stack, seen = 0, [value], set()
        while stack:
            v = stack.pop()
            if v not in seen and self.group.levels[v] == FULL:
                seen.add(v)
                found += 1 if v.is_cheap else 20
                stack += self.members(v)
        return found

    # ---- expressions ---------------------------------------------------------------------------------------

    def translator(self, dtype):
        return self.translators.setdefault(dtype.numpy.name, codegen.Translator(dtype.numpy))

    def operand(self, o, compute, level=FULL, keep_dtype=False):
        """The text of an operand in the dtype of the computation."""
        if not isinstance(o, Value):
            return literal(o, compute)
        member = self.group.member(o)
        text = self.names[member] if member is not None else f"x{self.places[o, level]}"
        return text if keep_dtype or o.dtype is compute else f"np.{bool_name(compute)}({text})"

    def expression(self, v):
        level = self.group.read_level(v)
        operands = [self.operand(o, v.compute, level, v.function == WHERE and i == 0) for i,
                    o in enumerate(v.operands)]
        if isinstance(v.function, str):
            text = v.function.format(*operands, one=f"np.{v.compute.numpy.name}(1)")
        else:
            text = f"{self.translator(v.compute).add(v.function)}({', '.join(operands)})"
        is_as_computed = v.dtype is v.compute and v.dtype.is_floating_point
        return text if is_as_computed else f"np.{bool_name(v.dtype)}({text})"

    # ---- lines ---------------------------------------------------------------------------------------------

    def module(self):
        """The whole text. Its name is made of it, see `kernels.cache`."""
        body = self.kernel()
        parts = [codegen.HEADER.format(title="a fused kernel"), PLUS,
                 *[t.text() for t in self.translators.values()], body]
        return "\n\n".join(part for part in parts if part)

    def kernel(self):
        lines = self.row_lines()
        sums = [v for v, lv in self.group.levels.items() if lv in (TOTAL, COLUMNS)]
        names = [f"a{i}" for i in range(len(self.reads))] + [f"w{i}" for i in range(len(self.writes))]
        names += [f"sum_{self.names[v]}" for v in sums]
        types_ = [codegen.array_type(v.dtype.numpy, readonly=True) for v, _, _ in self.reads]
        types_ += [codegen.array_type(v.dtype.numpy) for v,
                   _ in self.writes] + [codegen.array_type("float64")] * len(sums)
        types_ += ["types.int64[::1]", codegen.STRIDES] + [codegen.INDEX] * 4
        arguments = ", ".join([*names, "sizes", "strides", "row", "last_row", "begin", "end"])
        return "\n".join([
            f"@njit(types.void({', '.join(types_)}), {codegen.KERNEL_OPTIONS})",
            f"def kernel({arguments}):",
            "    n = end - begin",
            *[f"    k{self.names[v]} = np.empty(n, np.{v.dtype.numpy.name})" for v in self.kept],
            *[f"    c{self.names[v]} = sum_{self.names[v]}[begin:end]" for v in sums
              if self.group.levels[v] == COLUMNS],
            *[f"    t{self.names[v]} = 0.0" for v in sums if self.group.levels[v] == TOTAL],
            "    while row < last_row:",
            *[f"        {line}" for line in lines],
            "        row += 1",
            *[f"    sum_{self.names[v]}[0] += t{self.names[v]}" for v in sums
              if self.group.levels[v] == TOTAL],
        ]) + "\n"

    def row_lines(self):
        lines = self.index_lines()
        for i, (v, level, letter) in enumerate(self.reads):
            lines += self.start_lines(f"a{i}", f"r{i}" if letter != "s" and level == FULL else f"x{i}", i,
                                      letter if level == FULL else "s")
        for i, (v, letter) in enumerate(self.writes):
            k = len(self.reads) + i
            if self.group.levels[v] == FULL:
                lines += self.start_lines(f"w{i}", f"o{i}", k, letter)
            else:
                lines.append(f"s{k} = {self.start(k)}")
        for phase in range(self.last_phase() + 1):
            lines += self.row_values(phase) + self.loop(phase)
        return lines + self.row_values(self.last_phase() + 1)

    def index_lines(self):
        """The index of each loop around the row."""
        lines = ["rest = row"] * (self.outer > 1)
        for d in range(self.outer - 1, 0, -1):
            lines += [f"i{d} = rest % sizes[{d}]", f"rest = rest // sizes[{d}]"]
        return lines + [f"i0 = {'rest' if self.outer > 1 else 'row'}"] * (self.outer > 0)

    def start(self, k):
        parts = [f"i{d} * strides[{k}, {d}]" for d in range(self.outer)]
        return " + ".join([*parts, f"begin * strides[{k}, {self.outer}]"])

    def start_lines(self, array, row, k, letter):
        start = f"s{k} = {self.start(k)}"
        if letter == "s":
            return [start, f"{row} = {array}[s{k}]"]
        if letter == "c":
            return [start, f"{row} = {array}[s{k}:s{k} + n]"]
        return [start, f"{row} = {array}[s{k}::strides[{k}, {self.outer}]]"]

    def row_values(self, phase):
        """What is known of the row as a whole before the loop of this phase."""
        lines = []
        for v, level in self.group.levels.items():
            if level != ROW or self.phases[v] != phase:
                continue
            if isinstance(v, Reduce):
                lines.append(f"{self.names[v]} = {self.finished(v)}")
            else:
                lines.append(f"{self.names[v]} = {self.expression(v)}")
            if v in self.out_places:
                i = self.out_places[v]
                lines.append(f"w{i}[s{len(self.reads) + i}] = {self.names[v]}")
        return lines

    def finished(self, v):
        """A reduction's result from what its loop gathered."""
        if v.kind == "sum":
            return f"np.{v.dtype.numpy.name}(t{self.names[v]})"
        back = {"float32": from_key_float32, "float64": from_key_float64}[v.dtype.numpy.name]
        return f"{self.translator(v.dtype).add(back, primitive=True)}(t{self.names[v]})"

    def loop(self, phase):
        """The loop over the row of one phase."""
        here = [v for v in self.group.levels if isinstance(v, Reduce) and self.loop_of(v) == phase]
        lines = [self.beginning(v) for v in here if self.group.levels[v] == ROW]
        body, done = [], set()
        for v in [*self.roots(phase), *[v for v in self.kept if self.phases[v] == phase]]:
            self.compute(v, phase, body, done)
        for v in here:
            body += self.gathering(v, phase, body, done)
        for v in self.kept:
            if self.phases[v] == phase:
                body.append(f"k{self.names[v]}[j] = {self.names[v]}")
        for v, i in self.out_places.items():
            if self.group.levels[v] == FULL and self.phases[v] == phase:
                body.append(f"o{i}[j] = {self.names[v]}")
        return lines + ["for j in range(n):", *[f"    {line}" for line in body]] if body else lines

    def beginning(self, v):
        start = {"sum": "0.0", "amax": LOWEST.get(v.dtype.numpy.name),
                 "amin": HIGHEST.get(v.dtype.numpy.name)}[v.kind]
        return f"t{self.names[v]} = {start}"

    def gathering(self, v, phase, body, done):
        """The lines that take one element into a reduction."""
        x, t = v.operands[0], f"t{self.names[v]}"
        if x not in self.group.levels:
            self.load(x, body, done)
        text = self.operand(x, x.dtype, FULL)
        if v.kind == "sum":
            if self.group.levels[v] == COLUMNS:
                return [f"c{self.names[v]}[j] += np.float64({text})"]
            return [f"{t} = plus({t}, np.float64({text}))"]
        key = {"float32": key_float32, "float64": key_float64}[v.dtype.numpy.name]
        name = self.translator(v.dtype).add(key, primitive=True)
        nan = {"float32": ("2143289344", "-2143289345"),
               "float64": ("9221120237041090560",
                           "-9221120237041090561")}[v.dtype.numpy.name][v.kind == "amin"]
        new = f"n{self.names[v]}"
        sign = ">" if v.kind == "amax" else "<"
        return [f"{new} = {name}({text}, {nan})", f"{t} = {new} if {new} {sign} {t} else {t}"]

    def load(self, o, body, done):
        i = self.places[o, FULL]
        if self.reads[i][2] != "s" and ("read", i) not in done:
            done.add(("read", i))
            body.append(f"x{i} = r{i}[j]")

    def compute(self, v, phase, body, done):
        """Lines that compute a full value in this loop, its operands first."""
        stack = [(v, False)]
        while stack:
            v, is_ready = stack.pop()
            if v in done or self.group.levels[v] != FULL:
                continue
            if self.phases[v] < phase and v in self.out_places:
                body.append(f"{self.names[v]} = o{self.out_places[v]}[j]")
            elif self.phases[v] < phase and v in self.kept:
                body.append(f"{self.names[v]} = k{self.names[v]}[j]")
            elif not is_ready:
                stack.append((v, True))
                stack += [(m, False) for m in reversed(self.members(v))]
                continue
            else:
                for o in v.operands:
                    if isinstance(o, Value) and self.group.member(o) is None:
                        self.load(o, body, done)
                body.append(f"{self.names[v]} = {self.expression(v)}")
            done.add(v)


def literal(number, dtype):
    """A number in a dtype."""
    if dtype is dt.bool:
        return repr(bool(number))
    if not dtype.is_floating_point:
        return f"np.{dtype.numpy.name}({int(number)})"
    number = float(number)
    if math.isfinite(number):
        return f"np.{dtype.numpy.name}({number!r})"
    text = "np.nan" if math.isnan(number) else "np.inf" if number > 0 else "-np.inf"
    return f"np.{dtype.numpy.name}({text})"


def bool_name(dtype):
    return "bool_" if dtype is dt.bool else dtype.numpy.name
