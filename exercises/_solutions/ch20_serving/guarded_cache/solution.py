"""A cache of compiled functions with guards: what torch.compile does before each call.

    cache = GuardedCache(function, build, limit=8)
    cache(torch.ones(3))        build is called: build(args, dynamic=set())
    cache(torch.zeros(3))       the same guards hold: what build returned runs, on these arguments
    cache(torch.ones(4))        only a size differs: build(args, dynamic={(0, 0)}), argument 0, dim 0 may have any size
    cache(torch.ones(5))        ... which serves this call, too

A compiled function depends on what the guards compare, and on nothing else:

    of a tensor   dtype, requires_grad, is_contiguous(), the number of dims, and the size of each dim that is not dynamic
    of a number or text   its class and its value

When no guards hold, look for an entry that differs from the call in sizes alone. If there is one, the dims that differ, and
those that were dynamic in that entry already, are dynamic in the new one. Once there are `limit` entries, nothing is
compiled any more: the function itself runs.
"""


class GuardedCache:
    """Calls `function` through what `build(args, dynamic)` returns; `entries` holds one item for each compilation."""

    def __init__(self, function, build, limit=8):
        self.function = function
        self.build = build
        self.limit = limit
        self.entries = []

    def __call__(self, *args):
        """The result for these arguments: tensors, numbers and texts."""
        # solution
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
        # end of solution


# solution
def facts_of(args):
    """All that guards compare but the sizes."""
    return [(type(a), a) if isinstance(a, (bool, int, float, str)) else
            (a.dtype, a.requires_grad, a.is_contiguous(), len(a.shape)) for a in args]


def sizes_of(args):
    """{(argument, dim): size}."""
    return {(i, d): size for i, a in enumerate(args) if not isinstance(a, (bool, int, float, str))
            for d, size in enumerate(a.shape)}


def differing(before, now):
    """The (argument, dim) whose sizes differ."""
    return {place for place in now if before[place] != now[place]}
# end of solution
