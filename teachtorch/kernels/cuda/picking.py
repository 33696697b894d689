"""Elements at places that the data choose: gather and scatter along one dimension, several index tensors at
once, classes and their losses.

Several threads may add to one element at once: `cuda.atomic.add` lets each see the sum of those before. Their
order changes from run to run, and with it the last bits of a sum of floats, which is why PyTorch calls
scatter_add_ on a GPU nondeterministic.
"""

import numpy as np

from . import walk

# pindex walks the index, psame what has its shape, pother the other array, all dimensions of it but the
# indexed one.
ALONG = """
chosen = index[pindex]
if chosen < {lowest} or chosen >= length:
    bad[0] = 1
else:
    if chosen < 0:
        chosen += length
    {action}
"""

ACTIONS = {
    "gather": "same[psame] = other[pother + chosen * step]",
    "scatter": "other[pother + chosen * step] = same[psame]",
    "scatter_add": "cuda.atomic.add(other, pother + chosen * step, same[psame])",
}


def run(action, index, same, other, dim, bad, stream=0, negative=False):
    """Read `same` from `other`, or write or add it there, at the places that `index` names along `dim`.

    Args:
        action: gather, scatter or scatter_add.
        index: a Strided of int64 or int32. `same`, of its shape or larger; `other`, with as many dimensions.
        bad: a device array of one int32, which becomes 1 if an index is out of range; such elements are left
        out.
        negative: whether indices may count from the end.
    """
    steps = [0 if d == dim else step for d, step in enumerate(other.strides)]
    walked = {
        "index": (index.memory, index.strides),
        "same": (same.memory, same.strides),
        "other": (other.memory, steps),
    }
    body = ALONG.format(action=ACTIONS[action], lowest="-length" if negative else "0")
    numbers = {"length": int(other.shape[dim]), "step": int(other.strides[dim])}
    walk.run(action, body, index.shape, walked, {"bad": bad}, numbers, stream=stream)


# The place of each index tensor's choice is added up; one bad choice spoils the element.
PICK = """
place = pother
is_good = True
{choices}
if is_good:
    {action}
else:
    bad[0] = 1
"""

CHOICE = """chosen{k} = index{k}[pindex{k}]
if chosen{k} < -length{k} or chosen{k} >= length{k}:
    is_good = False
elif chosen{k} < 0:
    place += (chosen{k} + length{k}) * stride{k}
else:
    place += chosen{k} * stride{k}"""

PICKS = {
    "read": "same[psame] = other[place]",
    "write": "other[place] = same[psame]",
    "add": "cuda.atomic.add(other, place, same[psame])",
}


def pick(action, shape, same, other, other_steps, indices, bad, stream=0):
    """What `x[i, :, j]` reads, or writes or adds, with several index tensors.

    Args:
        action: read, write or add.
        shape: of what is picked; `same` is a Strided that broadcasts to it.
        other: flat device memory that starts at the first element; `other_steps`: its steps along `shape`, 0
        where an index tensor decides.
        indices: for each index tensor (flat memory, its steps along `shape`, length and stride of its
        dimension).
    """
    walked = {"same": (same.memory, same.broadcast(shape)), "other": (other, other_steps)}
    numbers = {}
    for k, (memory, steps, length, stride) in enumerate(indices):
        walked[f"index{k}"] = memory, steps
        numbers |= {f"length{k}": int(length), f"stride{k}": int(stride)}
    choices = "\n".join([CHOICE.format(k=k) for k in range(len(indices))])
    body = PICK.format(choices=choices, action=PICKS[action])
    walk.run(f"pick_{action}", body, shape, walked, {"bad": bad}, numbers, stream=stream)


# The loss of one target: minus the log probability of its class times the class's weight.
LOSS = """
chosen = target[ptarget]
losses[n] = np.{dtype}(0)
weights[n] = np.{dtype}(0)
if chosen != ignored:
    if chosen < 0 or chosen >= classes:
        bad[0] = 1
    else:
        weights[n] = {weight}
        losses[n] = -x[px + chosen * step] * weights[n]
"""

SLOPES = """
chosen = target[ptarget]
if chosen != ignored:
    if chosen < 0 or chosen >= classes:
        bad[0] = 1
    else:
        out[pout + chosen * step] = -grad[pgrad] * {weight}{share}
"""


def class_losses(losses, weights, x, x_steps, target, weight, classes, step, ignored, bad, stream=0):
    """Fill `losses` and `weights`, flat arrays of one element per target, from log probabilities `x`.

    Args:
        x: flat memory, with `x_steps` along the targets and `step` from class to class.
        target: a Strided of int64; `weight`: flat memory of one number per class, or None.
        ignored: the target that does not count.
    """
    one = f"np.{losses.dtype}(1)"
    body = LOSS.format(dtype=np.dtype(losses.dtype), weight=one if weight is None else "weight[chosen]")
    walked = {"target": (target.memory, target.strides), "x": (x, x_steps)}
    memory = {"losses": losses, "weights": weights, "bad": bad} | (
        {} if weight is None else {"weight": weight}
    )
    numbers = {"classes": classes, "step": step, "ignored": ignored}
    walk.run("class_losses", body, target.shape, walked, memory, numbers, stream=stream)


def class_slopes(
    out, out_steps, grad, grad_steps, target, weight, total, classes, step, ignored, bad, stream=0
):
    """Put each target's gradient at its class into `out`, which holds zeros.

    `total`: flat memory whose first element divides all of them, or None.
    """
    body = SLOPES.format(
        weight="weight[chosen]" if weight is not None else f"np.{out.dtype}(1)",
        share=" / total[0]" if total is not None else "",
    )
    walked = {"target": (target.memory, target.strides), "out": (out, out_steps), "grad": (grad, grad_steps)}
    memory = {"bad": bad} | ({} if weight is None else {"weight": weight})
    memory |= {} if total is None else {"total": total}
    numbers = {"classes": classes, "step": step, "ignored": ignored}
    walk.run("class_slopes", body, target.shape, walked, memory, numbers, stream=stream)
