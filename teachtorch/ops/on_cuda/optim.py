"""All parameters at once: the fused optimizer steps and the foreach operations, one launch per tensor, from
the same one-element updates as on the CPU.
"""

from .. import foreach
from ..foreach import plain_numbers
from .launching import FLOATS, kernel_for, native


def stepped(launch, update, lists, numbers):
    """Put an update of every row of tensors into the stream. False unless all of a row lie in memory alike."""
    rows = list(zip(*lists))
    if not all(t._dtype is rows[0][0]._dtype and t._dtype in FLOATS for row in rows for t in row):
        return False
    if not all(t._shape == row[0]._shape and t._stride == row[0]._stride for row in rows for t in row):
        return False
    from ...kernels.cuda import optim

    for place, row in enumerate(rows):
        arrays = [launch.flat(t) for t in row]
        own = [number[place] if isinstance(number, (list, tuple)) else number for number in numbers]
        launch.enqueue(lambda stream, arrays=arrays, own=own: optim.run(update, arrays, own, stream))


@kernel_for("_fused_sgd_", "_fused_adam_", "_fused_adamw_", "_fused_adagrad_")
def fused_step(launch, outputs, args):
    update, params, grads, states, numbers = args
    if not all(t.is_contiguous() for tensors in (params, grads, *states) for t in tensors):
        return False
    return stepped(launch, update, [params, grads, *states], numbers)


def declare(operation):
    """Kernels for the two operators of a foreach operation. Its lists are dense: Foreach has looked."""

    def call(launch, outputs, args):
        lists, numbers = args[: operation.lists], [plain_numbers(a) for a in args[operation.lists :]]
        return stepped(launch, operation.call_kernel, [outputs, *lists], numbers)

    def change(launch, outputs, args):
        lists, numbers = args[: operation.lists], [plain_numbers(a) for a in args[operation.lists :]]
        return stepped(launch, operation.change_kernel, list(lists), numbers)

    native[operation.call_op.name], native[operation.change_op.name] = call, change


for _operation in foreach.OPERATIONS:
    declare(_operation)
