"""PowerSGD: a gradient matrix travels as two narrow ones, whose product is near it.

    M (n x m) ~ P (n x r) Q^T (r x m)        P = M Q, summed over the ranks, then orthogonal
                                             Q = M^T P, averaged over the ranks

What is lost is kept, and added to the next gradient (error feedback). Vogels, Karimireddy and Jaggi,
PowerSGD: practical low-rank gradient compression, 2019.
https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html#powersgd-communication-hook
"""

import numpy as np

from ....ops.declare import exports
from ....tensor import from_array
from ... import collectives, groups
from .default_hooks import averaged

cat = exports[""]["cat"]


class PowerSGDState:
    """What the hook keeps from step to step.

    `matrix_approximation_rank`: r; `start_powerSGD_iter`: plain averages until then, in which DDP makes its
    buckets anew; `min_compression_rate`: smaller gains are not worth it; `use_error_feedback`, `warm_start`
    (begin with the last step's Q); `orthogonalization_epsilon` is added to lengths, against division by 0.
    ValueError for a start_powerSGD_iter up to 1 with one of these two.
    """

    def __init__(
        self,
        process_group,
        matrix_approximation_rank=1,
        start_powerSGD_iter=1_000,
        min_compression_rate=2,
        use_error_feedback=True,
        warm_start=True,
        orthogonalization_epsilon=0,
        random_seed=0,
        compression_stats_logging_frequency=10_000,
        batch_tensors_with_same_shape=False,
    ):
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, "
                "because PowerSGD can only be applied after the first two iterations in DDP."
            )
        self.process_group, self.matrix_approximation_rank = process_group, matrix_approximation_rank
        self.start_powerSGD_iter, self.min_compression_rate = start_powerSGD_iter, min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = np.random.RandomState(random_seed)  # the same on all ranks: so are the first Qs
        self.error_dict, self.q_dict = {}, {}  # by the number of the bucket
        self.total_numel_before_compression = self.total_numel_after_compression = 0
        self.iter = 0

    def maybe_increase_iter(self, bucket):
        """One more step, after its last bucket."""
        self.iter += bucket.is_last()

    def compression_stats(self):
        """(how much smaller, numbers before, numbers after) so far."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return before / after if after else 0, before, after


def powerSGD_hook(state, bucket):
    """Average a bucket, its matrices compressed; what is no matrix, or too small, travels as it is."""
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return averaged(state.process_group, bucket.buffer())
    group = state.process_group if state.process_group is not None else groups.default_group()
    buffer, number = bucket.buffer(), bucket.index()
    if state.use_error_feedback and number in state.error_dict:
        buffer.add_(state.error_dict[number])
    wanted = buffer.clone()
    matrices, others = sorted_out(state, bucket.gradients())
    qs = first_qs(state, number, matrices)
    ps = [matrix @ q for matrix, q in zip(matrices, qs)]
    together = [*others, *ps]
    begun = all_reduced(together, group) if together else None

    def finish(future):
        """P is there: Q, its average, and the product in place of each gradient."""
        give_back(future.value()[0], together)
        for tensor in others:
            tensor.div_(group.size())
        for p in ps:
            orthogonalize(p, state.orthogonalization_epsilon)
        new_qs = [matrix.t() @ p for matrix, p in zip(matrices, ps)]
        if new_qs:
            give_back(all_reduced(new_qs, group).wait()[0], new_qs)
        for matrix, p, q in zip(matrices, ps, new_qs):
            matrix.copy_(p @ q.div_(group.size()).t())
        state.q_dict[number] = new_qs
        if state.use_error_feedback:
            state.error_dict[number] = wanted - buffer
        state.maybe_increase_iter(bucket)
        return buffer

    return begun.then(finish)


def sorted_out(state, gradients):
    """(the matrices that are worth compressing, all other gradients); views of the bucket."""
    matrices, others = [], []
    for gradient in gradients:
        matrix = gradient.view(gradient.shape[0], -1) if gradient.dim() else gradient.view(1, 1)
        n, m = matrix.shape
        small = (n + m) * min(n, m, state.matrix_approximation_rank)
        is_worth_it = small * state.min_compression_rate < n * m
        (matrices if is_worth_it else others).append(matrix if is_worth_it else gradient)
        state.total_numel_before_compression += n * m
        state.total_numel_after_compression += small if is_worth_it else n * m
    return matrices, others


def first_qs(state, number, matrices):
    """The Qs to begin with, orthogonal: those of the last step, or random ones that all ranks draw alike."""
    qs = state.q_dict.get(number) if state.warm_start else None
    if qs is None:
        ranks = [min(*matrix.shape, state.matrix_approximation_rank) for matrix in matrices]
        drawn = [state.rng.standard_normal((matrix.shape[1], r)) for matrix, r in zip(matrices, ranks)]
        qs = [from_array(q).to(matrix.dtype) for matrix, q in zip(matrices, drawn)]
    for q in qs:
        orthogonalize(q, state.orthogonalization_epsilon)
    return qs


def orthogonalize(matrix, epsilon):
    """Make the columns orthogonal and of length 1, in place (Gram and Schmidt)."""
    for i in range(matrix.shape[1]):
        column, rest = matrix[:, i : i + 1], matrix[:, i + 1 :]
        column.div_(column.norm() + epsilon)
        rest.sub_((column * rest).sum(0, keepdim=True) * column)


def all_reduced(tensors, group):
    """The Future of the sums of all these tensors, in one flat one."""
    flat = cat([tensor.reshape(-1) for tensor in tensors])
    return collectives.all_reduce(flat, group=group, async_op=True).get_future()


def give_back(flat, tensors):
    """Copy the parts of a flat tensor to where they belong."""
    for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):
        tensor.copy_(part.view(tensor.shape))
