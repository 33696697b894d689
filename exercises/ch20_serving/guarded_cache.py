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
        raise NotImplementedError
