"""Finds races between streams, and memory that is used after its tensor died, from what the observer tells.

    with teachtorch.accelerator.sanitizer():
        with sim.stream(side):
            y = x * 2                    # StreamRace, if x was made in another stream and `side` does not wait for it

Every launch says which bytes it reads and writes. Two launches that touch the same bytes, one of them
writing, must be ordered (clocks.py); and a launch in another stream than the one a block was allocated in
must be done, or recorded with record_stream, when the block is freed. It does not run anything differently: a
race is found even when the kernels happened to run in the right order. What the host does to pinned memory
during a copy is not seen.

PyTorch has this for CUDA as TORCH_CUDA_SANITIZER=1: https://pytorch.org/docs/stable/cuda._sanitizer.html
"""

from bisect import bisect_right
from dataclasses import dataclass

from ..core import observer
from ..memory.launch import shown_site
from .clocks import Clocks

KINDS = {
    ("write", "read"): "read after write",
    ("read", "write"): "write after read",
    ("write", "write"): "write after write",
}


class StreamRace(RuntimeError):
    """Two launches that no wait orders touch the same memory, or memory was freed under a launch. `finding`: which."""

    def __init__(self, finding):
        super().__init__(str(finding))
        self.finding = finding


@dataclass(frozen=True)
class Access:
    """One launch's use of bytes: `launch`, "read" or "write", and the launch's number in its stream."""

    launch: object
    kind: str
    count: int

    @property
    def stream(self):
        return self.launch.stream_id

    def __str__(self):
        return f"{self.launch.name} {self.kind}s in {name_of(self.stream)}, launched at {shown_site(self.launch.site)}"


@dataclass(frozen=True)
class Race:
    """Two accesses to the same bytes with no order between them. `kind`: such as "read after write"."""

    kind: str
    first: Access
    second: Access
    allocated: tuple  # (stream, site) of the block, or None if that was before

    def missing(self):
        """The call that would order them."""
        return (
            f"{variable(self.second.stream)}.wait_stream({variable(self.first.stream)}) before "
            f"{shown_site(self.second.launch.site)}"
        )

    def __str__(self):
        lines = [
            f"Race between streams ({self.kind}): no wait orders these two.",
            f"  {self.first}",
            f"  {self.second}",
        ]
        if self.allocated is not None:
            lines.append(f"  (memory allocated in {name_of(self.allocated[0])} at {shown_site(self.allocated[1])})")
        return "\n".join([*lines, f"Missing: {self.missing()}"])


@dataclass(frozen=True)
class UseAfterFree:
    """A block was freed while a launch in another stream than its own may not be done."""

    access: Access
    stream: int  # the one that the block was allocated in
    site: tuple  # where its last tensor died
    kind = "use after free"

    def missing(self):
        """The call that would keep the memory."""
        return f"tensor.record_stream({variable(self.access.stream)}) before {shown_site(self.site)}"

    def __str__(self):
        return (
            f"Memory used after it was freed: its last tensor died at {shown_site(self.site)}, and from then on "
            f"{name_of(self.stream)}, in which it was allocated, may use it again. But this may still run:\n"
            f"  {self.access}\nMissing: {self.missing()}\n"
            f"  (or {variable(self.stream)}.wait_stream({variable(self.access.stream)}) there)"
        )


class Region:
    """A block of memory, or what the accesses to memory allocated earlier show of it."""

    def __init__(self, start, end, stream=None, site=None):
        self.start, self.end = start, end
        self.allocated = None if stream is None else (stream, site)
        self.recorded = set()  # streams named by record_stream
        self.accesses = []  # (start, end, Access), those that a later one may conflict with

    def conflicts(self, start, end, kind):
        """The earlier accesses to these bytes that an access of this kind must come after."""
        return [
            access
            for begin, stop, access in self.accesses
            if begin < end and start < stop and "write" in (kind, access.kind)
        ]

    def add(self, start, end, access):
        """Remember an access; it stands for the ones that it makes needless."""
        self.accesses = [
            (b, e, a)
            for b, e, a in self.accesses
            if not (
                start <= b and e <= end and (access.kind == "write" or a.kind == "read" and a.stream == access.stream)
            )
        ]
        self.accesses.append((start, end, access))


class Sanitizer:
    """The context manager behind `accelerator.sanitizer()`.

    `on_error`: "raise" raises StreamRace at the launch that races (or, for freed memory, at the next one);
    "collect" only lists what was found. `findings`: list of Race and UseAfterFree, one for each pair of
    launches.
    """

    def __init__(self, on_error="raise"):
        if on_error not in ("raise", "collect"):
            raise ValueError(f"on_error must be 'raise' or 'collect', not {on_error!r}")
        self.on_error = on_error
        self.findings = []
        self.clocks = Clocks()
        self._starts, self._regions = [], {}  # sorted addresses; address -> Region
        self._seen = set()
        self._unraised = None

    def __enter__(self):
        observer.subscribe(self.note, "stream")
        return self

    def __exit__(self, kind, error, traceback):
        observer.unsubscribe(self.note)
        if error is None:
            self._raise()

    def note(self, topic, fields):
        """Take one event of the topic "stream"."""
        handle = getattr(self, "_" + fields["action"], None)
        if handle is not None:
            handle(**{name: value for name, value in fields.items() if name not in ("action", "time")})

    def report(self):
        """All findings as text."""
        return "\n\n".join(map(str, self.findings)) or "No race found."

    # ---- order ---------------------------------------------------------------------------------------------

    def _record(self, mark, stream, **rest):
        self.clocks.record(mark, stream)

    def _wait(self, mark, stream, **rest):
        self.clocks.wait(mark, stream)

    def _synchronize(self, scope, stream=None, mark=None, **rest):
        self.clocks.synchronize(scope, stream, mark)

    _query = _synchronize  # "it is done" is as good as having waited

    # ---- memory --------------------------------------------------------------------------------------------

    def _alloc(self, address, nbytes, stream, site):
        self._forget(address, address + nbytes)
        self._insert(Region(address, address + nbytes, stream, site))

    def _record_stream(self, address, stream, **rest):
        region = self._region_at(address)
        if region is not None:
            region.recorded.add(stream)

    def _free(self, address, nbytes, stream, site):
        region = self._region_at(address)
        if region is None:
            return
        for _, _, access in region.accesses:
            if (
                access.stream != stream
                and access.stream not in region.recorded
                and not self.clocks.is_before(access.stream, access.count, stream)
            ):
                self._found(UseAfterFree(access, stream, site), (access.launch.number, site))
        self._forget(address, address + nbytes)

    def _launch(self, launch, **rest):
        count = self.clocks.launch(launch.stream_id)
        uses = [("read", span) for span in launch.reads] + [("write", span) for span in launch.writes]
        for kind, span in uses:
            self._check(Access(launch, kind, count), span)
        for kind, span in uses:
            self._region_of(span).add(*span, Access(launch, kind, count))
        self._raise()

    def _check(self, access, span):
        region = self._region_of(span)
        for earlier in region.conflicts(*span, access.kind):
            if earlier.launch is not access.launch and not self.clocks.is_before(
                earlier.stream, earlier.count, access.stream
            ):
                race = Race(KINDS[earlier.kind, access.kind], earlier, access, region.allocated)
                self._found(race, (earlier.launch.number, access.launch.number))

    def _found(self, finding, key):
        """Note a finding, unless the same two launches have one already: who writes after a write often reads
        it too.
        """
        if key not in self._seen:
            self._seen.add(key)
            self.findings.append(finding)
            self._unraised = self._unraised or finding

    def _raise(self):
        finding, self._unraised = self._unraised, None
        if finding is not None and self.on_error == "raise":
            raise StreamRace(finding)

    # ---- regions by address --------------------------------------------------------------------------------

    def _region_at(self, address):
        place = bisect_right(self._starts, address) - 1
        region = self._regions[self._starts[place]] if place >= 0 else None
        return region if region is not None and address < region.end else None

    def _region_of(self, span):
        """The region that holds these bytes, made (and others of memory allocated earlier joined) if need be."""
        region = self._region_at(span[0])
        if region is None or region.end < span[1]:
            joined = Region(region.start if region else span[0], span[1])
            for old in self._forget(joined.start, joined.end):
                joined.accesses += old.accesses
                joined.recorded |= old.recorded
            region = self._insert(joined)
        return region

    def _insert(self, region):
        self._starts.insert(bisect_right(self._starts, region.start), region.start)
        self._regions[region.start] = region
        return region

    def _forget(self, start, end):
        """Remove the regions that reach into these bytes, and return them."""
        gone = [self._regions[s] for s in self._starts if s < end and start < self._regions[s].end]
        for region in gone:
            self._starts.remove(region.start)
            del self._regions[region.start]
        return gone


def name_of(stream):
    return "the default stream" if stream == 0 else f"stream {stream}"


def variable(stream):
    """A stream as a line of code would name it."""
    return "default_stream" if stream == 0 else f"stream_{stream}"
