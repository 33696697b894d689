"""Calls the operator from the top again."""

FAILS = "test_goes_on"
SAYS = "without end"


class Counter:
    def __init__(self):
        self.calls = {}
        self.results = {}

    def fallback(self, op, *args, **kwargs):
        self.calls[op.name] = self.calls.get(op.name, 0) + 1
        found = op(*args, **kwargs)
        count = len(found) if isinstance(found, (tuple, list)) else 1
        self.results[op.name] = self.results.get(op.name, 0) + count
        return found

    def report(self):
        rows = [(name, calls, self.results.get(name, 0)) for name, calls in self.calls.items()]
        return sorted(rows, key=lambda row: (-row[1], row[0]))
