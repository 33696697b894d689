"""Reference counting against a tracing collector: when is memory freed, and how much is needed at most?

A program is a list of statements:

    ("new", v, nbytes)      makes an object of that size; then v names it, and no longer what it named before
    ("name", w, v)          variable w names what v names
    ("attach", v, w)        the object that v names refers to the one that w names, from now on
    ("del", v)              the variable goes away

An object is *reachable* if a variable names it, or a reachable object refers to it.

With reference counting (CPython, and so PyTorch) each object has a count: of the variables that name it and
of the objects that refer to it. It is freed as soon as the count is zero; what it referred to then loses one
count.

A tracing collector frees nothing until it runs. When it runs, it frees every object that is not reachable.
Here it runs before a `new`, if `every` objects have been made since it ran last (or since the start).

`x = f(x)`: the new object is there before x lets go of the old one. For a moment both need memory.
"""


def peak_counting(program):
    """Return (peak, left) under reference counting.

    peak: the most bytes that were allocated at one time. left: bytes at the end that are allocated, but
    reachable no more.
    """
    # solution
    heap = Heap()
    for kind, v, *rest in program:
        before = heap.variables.get(v)
        if kind == "new":
            heap.new(v, rest[0])
        elif kind == "name":
            heap.variables[v] = heap.variables[rest[0]]
        elif kind == "attach":
            heap.refers[before].append(heap.variables[rest[0]])
        else:
            del heap.variables[v]
        heap.free_uncounted()
    return heap.peak, heap.left()
    # end of solution


def peak_tracing(program, every):
    """Return (peak, left) with a tracing collector that runs before a `new`, after `every` objects made."""
    # solution
    heap, made = Heap(), 0
    for kind, v, *rest in program:
        if kind == "new":
            if made == every:
                heap.collect()
                made = 0
            heap.new(v, rest[0])
            made += 1
        elif kind == "name":
            heap.variables[v] = heap.variables[rest[0]]
        elif kind == "attach":
            heap.refers[heap.variables[v]].append(heap.variables[rest[0]])
        else:
            del heap.variables[v]
    return heap.peak, heap.left()
    # end of solution


# solution
class Heap:
    """Objects by number: their size, and the objects that they refer to."""

    def __init__(self):
        self.variables, self.size, self.refers = {}, {}, {}
        self.made = self.peak = 0

    def new(self, v, nbytes):
        self.made += 1
        self.size[self.made], self.refers[self.made] = nbytes, []
        self.peak = max(self.peak, sum(self.size.values()))
        self.variables[v] = self.made

    def free(self, number):
        del self.size[number], self.refers[number]

    def free_uncounted(self):
        counted = {*self.variables.values(), *(each for refers in self.refers.values() for each in refers)}
        zero = [number for number in self.size if number not in counted]
        for number in zero:
            self.free(number)
        if zero:
            self.free_uncounted()

    def reachable(self):
        found = list(dict.fromkeys(self.variables.values()))
        for number in found:
            found += [each for each in self.refers[number] if each not in found]
        return found

    def collect(self):
        reachable = self.reachable()
        for number in [number for number in self.size if number not in reachable]:
            self.free(number)

    def left(self):
        reachable = self.reachable()
        return sum(size for number, size in self.size.items() if number not in reachable)


# end of solution
