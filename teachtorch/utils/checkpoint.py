"""Activation checkpointing: keep a segment's inputs, run it again in backward (torch.utils.checkpoint).

Two ways, as in PyTorch:
    use_reentrant=False   hooks on saved tensors: while the segment runs, each saved tensor is replaced by an empty
                          holder; the first holder that backward opens makes the segment run again, which fills them all
    use_reentrant=True    a Function that runs the segment without recording, and whose backward runs it again with
                          recording and calls backward inside
Random draws repeat, since the generator's state is kept with the inputs; so is what autocast was set to.
"""
import collections
import contextlib
import itertools
import warnings
import weakref

from ..amp.autocast_mode import (autocast, get_autocast_dtype, is_autocast_cache_enabled,
                                 is_autocast_enabled)
from ..autograd import Function, backward as run_backward, enable_grad, is_grad_enabled, no_grad
from ..autograd.engine import TargetedTask, current
from ..autograd.graph import saved_tensors_hooks
from ..autograd.saved import Saved, save_input
from ..core import observer
from ..ops.generators import fork_rng, get_rng_state, set_rng_state
from ..tensor import Tensor
from ._pytree import tree_map
from .selective_checkpoint import (CheckpointPolicy, SelectiveCheckpointContext,  # noqa: F401
                                   create_selective_checkpoint_contexts)


TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint‑debug mode globally.
"""


class CheckpointError(RuntimeError):
    """The segment did something else when it ran again."""


def noop_context_fn():
    """Two contexts that do nothing: around the forward pass, and around its repetition."""
    return contextlib.nullcontext(), contextlib.nullcontext()


NOT_PASSED = (
    "torch.utils.checkpoint{}: the use_reentrant parameter should be passed explicitly. {} use_reentrant=False "
    "is recommended, but if you need to preserve the current default behavior, you can pass "
    "use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)
WITHOUT = ("Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception.",
           "In version 2.9 we will raise an exception if use_reentrant is not passed.")


def checkpoint(function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default",
               debug=False, early_stop=True, **kwargs):
    """function(*args), whose intermediate tensors are computed again in backward instead of being kept.

    `preserve_rng_state` (True): draw the same random numbers again. `context_fn`: makes two contexts, for the forward
    pass and its repetition. `determinism_check`: "default" compares shape, dtype and device of what is saved with what
    is saved again, "none" does not. `debug`: name the operators in the error. `early_stop`: end the repetition once all
    is there that backward needs. CheckpointError if the repetition differs; ValueError for options that do not fit.
    """
    if use_reentrant is None:
        warnings.warn(NOT_PASSED.format("", WITHOUT[0]), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return run_with_holders(function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Apply a Sequential, or a list of functions, in `segments` parts; all but the last are checkpointed."""
    if use_reentrant is None:
        warnings.warn(NOT_PASSED.format(".checkpoint_sequential", WITHOUT[1]), stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children() if hasattr(functions, "children") else functions)
    length = len(functions) // segments
    for start in range(0, length * (segments - 1), length):
        input = checkpoint(chain(functions[start:start + length]), input, use_reentrant=use_reentrant,
                           preserve_rng_state=preserve)
    return chain(functions[length * (segments - 1):])(input)


def chain(functions):
    """The functions, one after the other."""
    def chained(input):
        for function in functions:
            input = function(input)
        return input
    return chained


# ---- switches ---------------------------------------------------------------------------------------------------

class _Switches:
    early_stop = None
    debug = None


@contextlib.contextmanager
def _switched(name, value):
    before = getattr(_Switches, name)
    setattr(_Switches, name, value)
    try:
        yield
    finally:
        setattr(_Switches, name, before)


def set_checkpoint_early_stop(enable):
    """A context in which every checkpoint stops early, or none does."""
    return _switched("early_stop", enable)


def set_checkpoint_debug_enabled(enabled):
    """A context in which every checkpoint has `debug` on or off; None leaves it to each."""
    return _switched("debug", enabled)


# ---- use_reentrant=False ----------------------------------------------------------------------------------------

def run_with_holders(function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop):
    """The segment, with a holder in place of each saved tensor."""
    debug = debug if _Switches.debug is None else _Switches.debug
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in METADATA:
        raise ValueError(f"determinism_check should be one of {list(METADATA)}, but got {determinism_check}")
    early_stop = early_stop if _Switches.early_stop is None else _Switches.early_stop
    forward_context, repeat_context = context_fn()
    repeat = repetition(function, kwargs, preserve, repeat_context)
    if not is_grad_enabled():
        return function(*args, **kwargs)
    segment = Segment(repeat, args, early_stop, METADATA[determinism_check], debug)
    with holding(segment), forward_context, segment.listing(segment.forward_names):
        result = function(*args, **kwargs)
    segment.is_complete = True
    return result


def repetition(function, kwargs, preserve, context):
    """A function of the arguments that runs the segment again, from the generator's state as it is now."""
    surroundings = surroundings_now(preserve)

    def repeat(*args):
        with surroundings(), context:
            function(*args, **kwargs)
    return repeat


def surroundings_now(preserve):
    """A maker of contexts in which the generator's state (with `preserve`) and autocast are as they are now."""
    generator_state = get_rng_state() if preserve else None
    casting = {"dtype": get_autocast_dtype("cpu"), "enabled": is_autocast_enabled("cpu"),
               "cache_enabled": is_autocast_cache_enabled()}

    @contextlib.contextmanager
    def surroundings():
        with fork_rng(enabled=preserve), autocast("cpu", **casting):
            if preserve:
                set_rng_state(generator_state)
            yield
    return surroundings


def metadata_of(t):
    """What determinism_check="default" compares."""
    return {"shape": t.shape, "dtype": t.dtype, "device": t.device}


METADATA = {"default": metadata_of, "none": lambda t: None}


class Holder:
    """Stands for one saved tensor. `handles`: by backward pass, the key to the value that was computed again."""

    def __init__(self):
        self.handles = {}


class Handle:
    """The key to one value; the value goes when the handle does."""


class EnoughComputed(Exception):
    """Ends a repetition when all saved tensors are there. Not an error."""


class Segment:
    """One checkpointed call: its inputs, its holders (weak: they belong to the graph), what was computed again."""

    def __init__(self, repeat, args, early_stop, metadata, debug):
        self.repeat = repeat
        self.inputs = [save_input(a) if isinstance(a, Tensor) else a for a in args]
        self.early_stop = early_stop
        self.metadata = metadata
        self.debug = debug
        self.holders, self.descriptions = [], []
        self.values = collections.defaultdict(weakref.WeakKeyDictionary)     # by pass: {handle: tensor}
        self.counts = collections.defaultdict(int)
        self.repeated = set()
        self.is_complete = False             # False while forward runs: a backward inside it repeats what there is
        self.tolerates_more = False
        self.forward_names, self.repeat_names = [], []

    def hold(self, t):
        """The holder for a tensor that is saved."""
        holder = Holder()
        self.holders.append(weakref.ref(holder))
        self.descriptions.append(self.metadata(t))
        return holder

    def value_of(self, holder):
        """What the holder stands for; the first one of a backward pass makes the segment run again."""
        number = pass_number()
        if number not in self.repeated:
            self.run_again(number)
        handle = holder.handles[number]
        if handle is None:
            raise CheckpointError("torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                                  "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do so "
                                  "only once. Otherwise please open an issue with details on your use case.")
        holder.handles[number] = None
        return self.values[number][handle]

    def run_again(self, number):
        """Run the segment once more and take the tensors that it saves, as backward pass `number` needs them."""
        inputs = [a.unpack(None) if isinstance(a, Saved) else a for a in self.inputs]
        with contextlib.suppress(EnoughComputed), filling(self, number), enable_grad(), \
                self.listing(self.repeat_names):
            self.repeat(*inputs)
        self.repeated.add(number)
        if not self.tolerates_more:
            self.expect_same_count(number)
            self.expect_same_metadata(number)

    def fill(self, t, number):
        """Take a tensor that the repetition saves as the value of the next holder."""
        t = t.detach() if t.requires_grad else t
        place = self.counts[number]
        self.counts[number] += 1
        if place >= len(self.holders):
            return self.surplus(t)
        holder = self.holders[place]()
        if holder is not None:
            handle = holder.handles[number] = Handle()
            self.values[number][handle] = t
        if self.early_stop and place + 1 == len(self.holders):
            raise EnoughComputed
        return t

    def surplus(self, t):
        """More tensors than forward saved: an error, unless forward has not ended yet."""
        if self.is_complete:
            raise self.error("trying to save more tensors during recomputation than during the original forward pass.")
        self.tolerates_more = True
        return t

    def expect_same_count(self, number):
        """CheckpointError unless the repetition saved as many tensors as forward."""
        if len(self.holders) != self.counts[number]:
            raise self.error("A different number of tensors was saved during the original forward and recomputation.\n"
                             f"Number of tensors saved during forward: {len(self.holders)}\n"
                             f"Number of tensors saved during recomputation: {self.counts[number]}.\n")

    def expect_same_metadata(self, number):
        """CheckpointError unless each tensor looks like the one that forward saved."""
        different = ""
        for place, (reference, before) in enumerate(zip(self.holders, self.descriptions)):
            holder = reference()
            now = before if holder is None else self.metadata(self.values[number][holder.handles[number]])
            if now != before:
                different += f"tensor at position {place}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
        if different:
            raise self.error("Recomputed values for the following tensors have different metadata than during the "
                             f"forward pass.\n{different}.\n")

    def error(self, text):
        """A CheckpointError; with `debug` it lists the operators of both runs."""
        if self.debug:
            text += (f"\nOperators of the forward pass: {', '.join(self.forward_names)}"
                     f"\nOperators of the repetition:   {', '.join(self.repeat_names)}")
        else:
            text += TIP
        return CheckpointError("torch.utils.checkpoint: " + text)

    @contextlib.contextmanager
    def listing(self, names):
        """With `debug`, note the operators that users' code calls."""
        if not self.debug:
            yield
            return

        def note(topic, fields):
            if fields["depth"] == 0:
                names.append(fields["op"])
        names.clear()
        with observer.watching(note, "dispatch"):
            yield


_next_number = itertools.count().__next__
_numbers = weakref.WeakKeyDictionary()          # of the backward passes that run


def pass_number():
    """A number that tells backward passes apart; a new one each time outside of any."""
    number = _next_number()
    return number if current.task is None else _numbers.setdefault(current.task, number)


def holding(segment):
    """The hooks of forward: holders in place of tensors."""
    return saved_tensors_hooks(segment.hold, segment.value_of)


def filling(segment, number):
    """The hooks of a repetition: what it saves fills the holders."""
    segment = weakref.ref(segment)       # the hooks stay with the graph of the repetition
    return saved_tensors_hooks(lambda t: segment().fill(t, number), lambda t: t)


# ---- use_reentrant=True -----------------------------------------------------------------------------------------

class CheckpointFunction(Function):
    """Runs the segment unrecorded; its backward runs it again, recorded, and backward through that."""

    @staticmethod
    def forward(ctx, function, preserve, *args):
        check_backward_validity(args)
        ctx.repeat = repetition_with_result(function, preserve)
        ctx.args = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        """Run the segment again, and backward through it. RuntimeError in autograd.grad, which it cannot serve."""
        if isinstance(current.task, TargetedTask):
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing "
                "an `inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        args = list(ctx.args)
        for place, t in zip(ctx.places, ctx.saved_tensors):
            args[place] = t
        args = detach_variable(tuple(args))
        outputs = ctx.repeat(*args)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        tracked = [(out, g) for out, g in zip(outputs, grads) if isinstance(out, Tensor) and out.requires_grad]
        if not tracked:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        run_backward([out for out, _ in tracked], [g for _, g in tracked])
        return (None, None, *[a.grad if isinstance(a, Tensor) else None for a in args])


def repetition_with_result(function, preserve):
    surroundings = surroundings_now(preserve)

    def repeat(*args):
        with surroundings(), enable_grad():
            return function(*args)
    return repeat


def detach_variable(inputs):
    """The inputs outside their graph, as leaves that require grad where they did. RuntimeError unless a tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple([a.detach().requires_grad_(a.requires_grad) if isinstance(a, Tensor) else a for a in inputs])


def check_backward_validity(inputs):
    """Warn if no input requires grad: then no gradient will reach the segment's parameters."""
    if not any(isinstance(a, Tensor) and a.requires_grad for a in inputs):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


# ---- generators of devices --------------------------------------------------------------------------------------

class DefaultDeviceType:
    """The kind of device whose generators are kept when a segment has no tensors on an accelerator."""

    _type = None

    @staticmethod
    def set_device_type(device="cuda"):
        """Name another kind, such as "cuda"."""
        DefaultDeviceType._type = device

    @staticmethod
    def get_device_type():
        """The kind: "cpu" unless another was named."""
        return DefaultDeviceType._type or "cpu"


def get_device_states(*args):
    """(indices of the devices that tensors among the arguments are on, states of these devices' generators).

    Tensors on the CPU and on meta do not count.
    """
    found = []

    def look(value):
        if isinstance(value, Tensor) and value.device.type not in ("cpu", "meta"):
            found.append(value.device)
        return value
    tree_map(look, args)
    return [device.index for device in found], [get_rng_state() for _ in found]


def set_device_states(devices, states, *, device_type=None):
    """Put back what get_device_states returned; all devices draw from one generator here."""
    for _, generator_state in zip(devices, states):
        set_rng_state(generator_state)
