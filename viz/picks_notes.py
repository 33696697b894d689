"""Sentences for pictures of picked elements: what is shared, what collides, a view or a copy."""

from viz.engines import library_of
from viz.picks_blocks import unravel
from viz.tensors import element_count
from viz.wrap import counted

_NAMED = 3


def showing(*blocks):
    """What is left out of each grid."""
    notes = []
    for block in blocks:
        total = element_count(block.shape)
        if len(block.places) < total:
            notes.append(f"Showing {len(block.places)} of {counted(total, 'element')} of {block.name}.")
    return notes


def gather_notes(name, places, input):
    """How often elements are read, which is what the backward has to add up."""
    counts = _counts(places, input)
    often = int((counts > 1).sum().item())
    never = int((counts == 0).sum().item())
    notes = ["The result has the shape of the index. Nothing is broadcast."]
    if often:
        notes.append(
            f"Read more than once: {_named(counts, input)}. The backward is scatter_add: such an element "
            "gets the sum of its gradients."
        )
    if never:
        notes.append(f"Never read, so their gradient is 0: {counted(never, 'element')} of {name}.")
    return notes


def scatter_notes(places, input, src, reduce, include_self):
    """Which writes collide, and what becomes of them."""
    counts = _counts(places, input)
    often, notes = int((counts > 1).sum().item()), []
    if often:
        notes.append(f"Collisions: {_named(counts, input)}. {_outcome(reduce, src)}")
    else:
        notes.append("No two writes go to the same element.")
    if reduce and not include_self:
        notes.append("include_self=False: an element that is written forgets its old value.")
    untouched = int((counts == 0).sum().item())
    if untouched:
        notes.append(f"Not written, so as before: {counted(untouched, 'element')}.")
    return notes


def _outcome(reduce, src):
    if reduce:
        return f"They are joined by {reduce}."
    if not hasattr(src, "shape"):
        return "All write the same number, so it does not matter."
    return "One of the writes stays, and which one is not defined; scatter_add adds them."


def index_notes(rule, places, x):
    """A view or a copy, and where the dims of the index tensors are in the result."""
    return [_view_or_copy(rule, places, x), *_dims_note(rule), *_often_note(rule, places, x)]


def _view_or_copy(rule, places, x):
    if not rule.advanced and all(part is not True and part is not False for part in rule.plain_key):
        return "A view: integers, slices and None only change sizes, strides and offset. Nothing is copied."
    return f"A copy of {counted(places.numel(), 'element')}: an index tensor, a list or a mask takes part."


def _dims_note(rule):
    if not rule.advanced:
        return []
    if not rule.shape:
        return []
    if rule.count == 1:
        where = f"its dims stand where it stood, at dim {rule.at} of the result"
        return [f"The index has shape {rule.shape}: {where}."]
    of_mask = " (of a mask: the columns of its nonzero())" if rule.masked else ""
    shape = f"The {rule.count} index tensors{of_mask} are broadcast to {rule.shape}."
    if not rule.together:
        return [f"{shape} A slice or None stands between them, so these dims come first in the result."]
    return [f"{shape} They stand side by side: these dims are at dim {rule.at} of the result."]


def _often_note(rule, places, x):
    counts = _counts(places, x)
    if not int((counts > 1).sum().item()):
        return []
    return [
        f"Read more than once: {_named(counts, x)}. In the backward their gradients are added; "
        f"{rule.name}[{rule.written}] += 1 would write 1 more only once."
    ]


def _counts(places, tensor):
    """How often each element of ``tensor`` is named, in row-major order."""
    return library_of(places).bincount(places.reshape(-1), minlength=tensor.numel())


def _named(counts, tensor):
    """``[0, 1] 2 times, [1, 0] 3 times, and 4 more``"""
    often = (counts > 1).nonzero().reshape(-1)
    words = [
        f"{list(unravel(place, tuple(tensor.shape)))} {counts[place].item()} times"
        for place in often[:_NAMED].tolist()
    ]
    more = len(often) - len(words)
    return ", ".join(words) + (f", and {counted(more, 'other')}" if more else "")
