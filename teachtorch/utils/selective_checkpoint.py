"""Selective checkpointing: which operators of a segment are computed again, and which results are kept.

Two modes of `__torch_dispatch__` share a table of results:
    around the forward pass   after each operator the policy says what becomes of its result
    around the repetition     an operator whose result was kept takes it from the table and does not run
https://docs.pytorch.org/docs/stable/checkpoint.html#torch.utils.checkpoint.create_selective_checkpoint_contexts
"""
import collections
import enum

from ..ops.namespaces import OpOverload, OpOverloadPacket
from ..tensor import Tensor
from ._pytree import tree_map
from ._python_dispatch import TorchDispatchMode


class CheckpointPolicy(enum.Enum):
    """What becomes of an operator's result.

    MUST_ forbids others (a compiler) to decide differently, PREFER_ does not.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


KEEPING = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class SelectiveCheckpointContext:
    """What a policy is told besides the call: `op_output`, the result. `is_recompute` is always False."""

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute = is_recompute
        self.op_output = op_output


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """The two contexts that `context_fn` of checkpoint returns.

    `policy_fn_or_list`: policy(ctx, op, *args, **kwargs), which returns a CheckpointPolicy (or True to keep), or the
    list of overloads whose results are kept. `allow_cache_entry_mutation`: use kept results even if they were changed
    in place. TypeError for a policy that is neither, ValueError for a list of anything but overloads.
    """
    if isinstance(policy_fn_or_list, list):
        policy = keep_these(policy_fn_or_list)
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    table = collections.defaultdict(list)
    return _CachingTorchDispatchMode(policy, table), _CachedTorchDispatchMode(None, table, allow_cache_entry_mutation)


def keep_these(ops):
    """The policy that keeps the results of these overloads and no others."""
    for op in ops:
        if not isinstance(op, OpOverload):
            hint = ("Please update the OpOverloadPacket to a specific OpOverload.For example, if you have "
                    "`torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
                    if isinstance(op, OpOverloadPacket) else "")
            raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {hint}")

    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE if op in ops else CheckpointPolicy.PREFER_RECOMPUTE
    return policy


COMPUTE_AGAIN, TAKEN = object(), object()          # entries of the table that are no results


def is_ignored(op):
    """detach: the forward pass and its repetition call it a different number of times."""
    return op.name() in ("aten::detach", "prim::device")


class Kept:
    """A result outside its graph, and the version it had."""

    def __init__(self, value):
        self.value = value.detach() if isinstance(value, Tensor) else value
        self.version = value._version if isinstance(value, Tensor) else None

    def take(self, may_have_changed):
        if not may_have_changed and self.version is not None and self.value._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.value


class _CachingTorchDispatchMode(TorchDispatchMode):
    """Around the forward pass: writes one entry into the table for each call."""

    def __init__(self, policy_fn, storage):
        super().__init__()
        self.policy_fn, self.storage = policy_fn, storage

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if is_ignored(func):
            return result
        policy = self.policy_fn(SelectiveCheckpointContext(is_recompute=False, op_output=result), func, *args, **kwargs)
        keeps = policy if isinstance(policy, bool) else policy in KEEPING
        self.storage[func].append(tree_map(Kept, result) if keeps else COMPUTE_AGAIN)
        return result


class _CachedTorchDispatchMode(TorchDispatchMode):
    """Around the repetition: the n-th call of an operator finds the n-th entry."""

    def __init__(self, policy_fn, storage, allow_cache_entry_mutation=False):
        super().__init__()
        self.storage, self.allow_cache_entry_mutation = storage, allow_cache_entry_mutation

    def __enter__(self):
        self.places = collections.Counter()
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if is_ignored(func):
            return func(*args, **(kwargs or {}))
        entries, place = self.storage.get(func, ()), self.places[func]
        self.places[func] += 1
        if place >= len(entries):
            raise RuntimeError(f"{func} encountered during backward but not found in storage. This can happen if the "
                               "operations in the checkpointed region are nondeterministic or depend on global state "
                               "that changed between forward and backward.")
        entry = entries[place]
        if entry is COMPUTE_AGAIN:
            return func(*args, **(kwargs or {}))
        if entry is TAKEN:
            raise RuntimeError("Trying to backward an extra time. You are only allowed to backward once on any region "
                               "computed under selective activation checkpoint.")
        entries[place] = TAKEN
        return tree_map(lambda kept: kept.take(self.allow_cache_entry_mutation), entry)
