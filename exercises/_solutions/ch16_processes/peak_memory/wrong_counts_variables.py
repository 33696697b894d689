"""Reference counting that counts variables only."""

FAILS = "test_attached"
SAYS = "refers to it"


def peak_counting(program):
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


def peak_tracing(program, every):
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


class Heap:
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
        counted = {*self.variables.values()}
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
