"""A boxed fallback: one function that serves every operator, whatever its arguments are.

A fallback is called with the operator and the call's arguments as they came. It does something of its own and goes on
below its key. Yours counts: how often each operator was called, and how many results it gave.

The operator has two ways to be called: `op(*args, **kwargs)` starts at the top of the dispatcher, and
`op.redispatch(*args, **kwargs)` goes on below your key. `op.name` is its name.
"""


class Counter:
    """Counts the calls that go through `fallback`."""

    def __init__(self):
        # solution
        self.calls = {}
        self.results = {}
        # end of solution

    def fallback(self, op, *args, **kwargs):
        """Count, go on below, and return what comes back, unchanged.

        A call counts when it begins, even if it fails. A tuple or list of n is n results, anything else is one.
        """
        # solution
        self.calls[op.name] = self.calls.get(op.name, 0) + 1
        found = op.redispatch(*args, **kwargs)
        count = len(found) if isinstance(found, (tuple, list)) else 1
        self.results[op.name] = self.results.get(op.name, 0) + count
        return found
        # end of solution

    def report(self):
        """Return a list of (name, calls, results), the most called first, equal ones by name."""
        # solution
        rows = [(name, calls, self.results.get(name, 0)) for name, calls in self.calls.items()]
        return sorted(rows, key=lambda row: (-row[1], row[0]))
        # end of solution
