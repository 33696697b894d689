"""Counts by hand, and forgets what a variable named before."""

FAILS = "test_renamed"
SAYS = "nothing names the first object any more"


def peak_counting(program):
    heap = Heap()
    for kind, v, *rest in program:
        if kind == "new":
            heap.new(v, rest[0])
        elif kind == "name":
            heap.hold(heap.variables[rest[0]])
            heap.variables[v] = heap.variables[rest[0]]
        elif kind == "attach":
            heap.refers[heap.variables[v]].append(heap.variables[rest[0]])
            heap.hold(heap.variables[rest[0]])
        else:
            heap.drop(heap.variables.pop(v))
    return heap.peak, heap.left()


def peak_tracing(program, every):
    heap, made = Heap(), 0
    for kind, v, *rest in program:
        if kind == "new":
            if made == every:
                heap.collect()
                made = 0
            heap.new(v, rest[0], counted=False)
            made += 1
        elif kind == "name":
            heap.variables[v] = heap.variables[rest[0]]
        elif kind == "attach":
            heap.refers[heap.variables[v]].append(heap.variables[rest[0]])
        else:
            del heap.variables[v]
    return heap.peak, heap.left()


class Heap:
    def __init__(self):
        self.variables, self.size, self.refers, self.count = {}, {}, {}, {}
        self.made = self.peak = 0

    def new(self, v, nbytes, counted=True):
        self.made += 1
        self.size[self.made], self.refers[self.made], self.count[self.made] = nbytes, [], 1
        self.peak = max(self.peak, sum(self.size.values()))
        if counted and v in self.variables:
            self.drop(self.variables[v])
        self.variables[v] = self.made

    def hold(self, number):
        self.count[number] += 1

    def drop(self, number):
        self.count[number] -= 1
        if self.count[number] == 0:
            del self.size[number]
            for each in self.refers.pop(number):
                self.drop(each)

    def reachable(self):
        found = list(dict.fromkeys(self.variables.values()))
        for number in found:
            found += [each for each in self.refers[number] if each not in found]
        return found

    def collect(self):
        reachable = self.reachable()
        for number in [number for number in self.size if number not in reachable]:
            del self.size[number], self.refers[number]

    def left(self):
        reachable = self.reachable()
        return sum(size for number, size in self.size.items() if number not in reachable)
