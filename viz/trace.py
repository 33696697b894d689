"""The trace: what a picture shows, as one small JSON value."""

import json
from dataclasses import asdict, dataclass, field

VERSION = 1
KINDS = ("graph", "strides", "why", "grads", "versions", "diff", "picks", "broadcast", "loader",
         "optimizer", "module", "holders", "memory", "streams", "profile", "dispatch", "fx", "buckets", "zero", "join",
         "trainer", "fusion", "threads")


@dataclass
class Trace:
    """Everything a renderer may know: it never sees the tensor itself.

    kind: one of KINDS; it names the files that draw it.
    title: one line that names the subject.
    nodes, edges, groups: lists of dicts with an ``id`` unique in the whole trace.
    steps: ``{"ids": [...], "msg": sentence, "set": {id: {"text": ..., "state": ...}}}``; ``set`` holds what
        changes from this step on, ``ids`` what the step is about.
    notes: sentences printed under the title.
    options: what else the renderers of this kind need.
    """

    kind: str
    title: str
    nodes: list = field(default_factory=list)
    edges: list = field(default_factory=list)
    groups: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    options: dict = field(default_factory=dict)

    def to_json(self, indent=None):
        """The trace as JSON text, the same text for the same trace."""
        separators = (",", ":") if indent is None else None
        value = {"version": VERSION, **asdict(self)}
        return json.dumps(value, indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text):
        """Read what ``to_json`` wrote; ValueError for anything else."""
        value = json.loads(text)
        if not isinstance(value, dict) or value.get("kind") not in KINDS:
            raise ValueError("this JSON is not a viz trace: it has no known 'kind'")
        if value.pop("version", None) != VERSION:
            raise ValueError(f"this trace was written by another version of viz (this one reads {VERSION})")
        return cls(**value)

    def by_id(self):
        """Every node, edge and group by its id."""
        return {item["id"]: item for item in [*self.nodes, *self.edges, *self.groups]}
