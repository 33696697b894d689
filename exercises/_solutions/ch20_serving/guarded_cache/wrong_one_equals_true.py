"""Takes 1, 1.0 and True for the same number."""

FAILS = "test_numbers"
SAYS = "True is no 1"


class GuardedCache:
    """Calls `function` through what `build(args, dynamic)` returns; `entries` holds one item for each compilation."""

    def __init__(self, function, build, limit=8):
        self.function = function
        self.build = build
        self.limit = limit
        self.entries = []

    def __call__(self, *args):
        """The result for these arguments: tensors, numbers and texts."""
        facts, sizes = facts_of(args), sizes_of(args)
        for entry in self.entries:
            if entry["facts"] == facts and not differing(entry["sizes"], sizes) - entry["dynamic"]:
                return entry["run"](*args)
        if len(self.entries) >= self.limit:
            return self.function(*args)
        dynamic = set()
        for entry in self.entries:
            if entry["facts"] == facts:
                dynamic |= entry["dynamic"] | differing(entry["sizes"], sizes)
        run = self.build(args, dynamic)
        self.entries.append({"facts": facts, "sizes": sizes, "dynamic": dynamic, "run": run})
        return run(*args)


def facts_of(args):
    """All that guards compare but the sizes."""
    return [a if isinstance(a, (bool, int, float, str)) else
            (a.dtype, a.requires_grad, a.is_contiguous(), len(a.shape)) for a in args]


def sizes_of(args):
    """{(argument, dim): size}."""
    return {(i, d): size for i, a in enumerate(args) if not isinstance(a, (bool, int, float, str))
            for d, size in enumerate(a.shape)}


def differing(before, now):
    """The (argument, dim) whose sizes differ."""
    return {place for place in now if before[place] != now[place]}
