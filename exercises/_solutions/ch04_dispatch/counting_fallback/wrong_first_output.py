"""Returns the first of several results."""

FAILS = "test_outputs"
SAYS = "two results"


class Counter:
    def __init__(self):
        self.calls = {}
        self.results = {}

    def fallback(self, op, *args, **kwargs):
        self.calls[op.name] = self.calls.get(op.name, 0) + 1
        found = op.redispatch(*args, **kwargs)
        count = len(found) if isinstance(found, (tuple, list)) else 1
        self.results[op.name] = self.results.get(op.name, 0) + count
        return found[0] if isinstance(found, tuple) else found

    def report(self):
        rows = [(name, calls, self.results.get(name, 0)) for name, calls in self.calls.items()]
        return sorted(rows, key=lambda row: (-row[1], row[0]))
