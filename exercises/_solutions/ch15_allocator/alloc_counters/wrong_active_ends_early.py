"""Lets active fall when free is called."""

FAILS = "test_waiting"
SAYS = "still uses it"


class Counters:
    def __init__(self):
        names = ("requested", "allocated", "active", "reserved")
        self.current, self.peak = dict.fromkeys(names, 0), dict.fromkeys(names, 0)

    def malloc(self, requested, block):
        add(self, "requested", requested)
        add(self, "allocated", block)
        add(self, "active", block)

    def free_requested(self, requested, block):
        add(self, "allocated", -block)
        add(self, "active", -block)

    def free_completed(self, requested, block):
        add(self, "requested", -requested)

    def segment(self, nbytes):
        add(self, "reserved", nbytes)

    def reset_peak(self):
        self.peak = dict(self.current)

    def stats(self):
        result = {}
        for name in self.current:
            result[f"{name}.current"], result[f"{name}.peak"] = self.current[name], self.peak[name]
        return result


def add(counters, name, amount):
    counters.current[name] += amount
    counters.peak[name] = max(counters.peak[name], counters.current[name])
