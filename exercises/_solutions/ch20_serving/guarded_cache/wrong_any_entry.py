"""Compares the sizes with those of every entry."""

FAILS = "test_dynamic"
SAYS = "differs from this call in sizes alone"


class GuardedCache:

    def __init__(self, function, build, limit=8):
        self.function = function
        self.build = build
        self.limit = limit
        self.entries = []

    def __call__(self, *args):
        facts, sizes = facts_of(args), sizes_of(args)
        for entry in self.entries:
            if entry["facts"] == facts and not differing(entry["sizes"], sizes) - entry["dynamic"]:
                return entry["run"](*args)
        if len(self.entries) >= self.limit:
            return self.function(*args)
        dynamic = set()
        for entry in self.entries:
            if len(entry["facts"]) == len(facts) and entry["sizes"].keys() == sizes.keys():
                dynamic |= entry["dynamic"] | differing(entry["sizes"], sizes)
        run = self.build(args, dynamic)
        self.entries.append({"facts": facts, "sizes": sizes, "dynamic": dynamic, "run": run})
        return run(*args)


def facts_of(args):
    return [(type(a), a) if isinstance(a, (bool, int, float, str)) else
            (a.dtype, a.requires_grad, a.is_contiguous(), len(a.shape)) for a in args]


def sizes_of(args):
    return {(i, d): size for i, a in enumerate(args) if not isinstance(a, (bool, int, float, str))
            for d, size in enumerate(a.shape)}


def differing(before, now):
    return {place for place in now if before[place] != now[place]}
