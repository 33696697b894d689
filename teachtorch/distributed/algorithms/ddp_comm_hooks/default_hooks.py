"""Communication hooks: how a bucket's average is made. `ddp.register_comm_hook(state=None, hook=fp16_compress_hook)`.

A hook gets the state, here a process group or None, and a GradBucket, and returns a Future of the averaged
buffer. https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html#default-communication-hooks
"""

from ....core.dtype import bfloat16, float16
from ... import collectives, groups


def allreduce_hook(process_group, bucket):
    """What happens without a hook: divide, then all-reduce."""
    return averaged(process_group, bucket.buffer())


def averaged(process_group, tensor):
    group = process_group if process_group is not None else groups.default_group()
    tensor.div_(group.size())
    return collectives.all_reduce(tensor, group=group, async_op=True).get_future().then(only_tensor)


def only_tensor(future):
    return future.value()[0]


def compressed(process_group, bucket, dtype):
    """Half the bytes on the way; the result is written back in the bucket's own dtype."""
    buffer = bucket.buffer()

    def decompress(future):
        buffer.copy_(future.value())
        return buffer

    return averaged(process_group, buffer.to(dtype)).then(decompress)


def fp16_compress_hook(process_group, bucket):
    """Average in float16."""
    return compressed(process_group, bucket, float16)


def bf16_compress_hook(process_group, bucket):
    """Average in bfloat16: less precise, without float16's narrow range."""
    return compressed(process_group, bucket, bfloat16)


def fp16_compress_wrapper(hook):
    """A hook that gives another hook a bucket in float16, and takes its result back."""
    return wrapped(hook, float16)


def bf16_compress_wrapper(hook):
    """The same in bfloat16."""
    return wrapped(hook, bfloat16)


def wrapped(hook, dtype):
    def compressing(state, bucket):
        return hook(state, Narrow(bucket, dtype)).then(widen(bucket))

    return compressing


def widen(bucket):
    def back(future):
        bucket.set_buffer(future.value())
        return bucket.buffer()

    return back


class Narrow:
    """A bucket whose buffer is a copy in another dtype."""

    def __init__(self, bucket, dtype):
        self.bucket, self.copy = bucket, bucket.buffer().to(dtype)

    def buffer(self):
        return self.copy

    def __getattr__(self, name):
        return getattr(self.bucket, name)
