"""Whether a model is what it was, asked before each call of a compiled function.

A model of a hundred modules has some thousand things that a graph depends on: flags, children, hooks, which
parameters there are and of what shape. Nearly always not one has been touched, so the first question is
whether the very same objects are in their places. It is written out as one straight function, a comparison by
`is` for each. Where an object is another one, the values are compared, and if they are equal the straight
function is written anew.
"""
import weakref
from itertools import count

from ..core.generated import function_from

# of the straight function; a model whose objects change all the time is compared
REWRITES = 8


class ModulesWatch:
    """All of a model at one go, as environment.py's Watch: `now()` is `then`, True, while nothing has changed.

    Args:
        place: the model, in the user's words.
        parts: Watches of the values.
        modules: [(module, names of its plain attributes)].
    """

    then = True

    def __init__(self, place, parts, modules):
        self.place, self.parts, self.modules = place, parts, modules
        self.rewrites = 0
        self.is_untouched = untouched(modules)

    def now(self):
        if is_true(self.is_untouched):
            return True
        holds = all([part.holds() for part in self.parts])
        if holds and self.rewrites < REWRITES:
            self.rewrites += 1
            self.is_untouched = untouched(self.modules)
        return holds

    holds = now

    def what_changed(self):
        return next((part.what_changed() for part in self.parts if not part.holds()), self.place)


def is_true(test):
    try:
        return test()
    except (KeyError, AttributeError):  # something that was compared is not there any more
        return False


def untouched(modules):
    """A function that says whether each thing that the modules hold is the object that it is now."""
    written = Straight()
    hooks = [h for m, _ in modules for h in (m._forward_hooks, m._forward_pre_hooks)]
    tables = [t for m, _ in modules for t in (m._parameters, m._buffers, m._modules) if t]
    written.lengths(hooks)
    written.lengths(tables)
    for m, plain in modules:
        written.items(m.__dict__, plain)
    for table in tables:
        if is_of_modules(table):
            written.values(table)
        else:
            written.items(table, table)
    for m, _ in modules:
        for tensor in (*m._parameters.values(), *m._buffers.values()):
            if tensor is not None:
                written.metadata(tensor)
    return written.function()


def is_of_modules(table):
    """Whether `==` of the table's values asks whether they are the same objects."""
    return len(table) > 3 and all([type(m).__eq__ is object.__eq__ for m in table.values()])


class Straight:
    """A test under construction: the comparisons' text, and the objects that they name."""

    def __init__(self):
        self.lines, self.scope, self.numbers = [], {}, count()

    def name(self, thing):
        name = f"o{next(self.numbers)}"
        self.scope[name] = thing
        return name

    def lengths(self, containers):
        if any(containers):
            self.lines.append(f"list(map(len, {self.name(containers)})) == {[len(c) for c in containers]}")
        else:
            self.lines.append(f"not any({self.name(containers)})")

    def items(self, table, keys):
        where = self.name(table)
        self.lines += [f"{where}[{key!r}] is {self.name(table[key])}" for key in keys]

    def values(self, table):
        """All of a table at once, and in which order; for what is equal to nothing but itself."""
        self.lines.append(f"list({self.name(table)}.values()) == {self.name(list(table.values()))}")

    def metadata(self, t):
        """Shape, strides and dtype cannot change while the array is the same. It is held weakly: a guard must
        not keep memory alive that the model has let go."""
        where = self.name(t)
        if t._array is not None:
            self.lines.append(f"{where}._array is {self.name(weakref.ref(t._array))}()")
        else:
            self.lines += [f"{where}.{field} is {self.name(getattr(t, field))}"
                           for field in ("_array", "_shape", "_stride", "_dtype", "_device")]
        if t._meta is None:
            self.lines.append(f"{where}._meta is None")
        else:
            self.lines.append(f"{where}._meta.requires_grad is {t._meta.requires_grad}")

    def function(self):
        text = " and\n            ".join(self.lines)
        return function_from(f"def untouched():\n    return ({text})\n", "untouched", "guards of modules",
                             self.scope)
