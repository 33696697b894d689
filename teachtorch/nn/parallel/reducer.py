"""The reducer: averages gradients among the ranks while backward is still computing others.

    hook of a parameter    its gradient, divided by the number of ranks, goes into its stretch of a bucket
    on_grad
    bucket complete        its all-reduce begins, and backward goes on
    launch_ready
    end of backward        wait for all buckets, and give the parameters their averages
    finalize

All-reduces must begin in the same order on all ranks. Gradients become ready in different orders; so a bucket
that is complete waits until those before it have begun. torch/csrc/distributed/c10d/reducer.cpp, and Li et
al., PyTorch Distributed, VLDB 2020, section 3.2.
"""

import time

from ...autograd.engine import queue_last_callback
from ...autograd.grad_mode import no_grad
from ...core import observer
from ...core.dtype import int32
from ...distributed import collectives
from ...distributed.objects import broadcast_object_list
from ...ops.declare import exports
from .buckets import Bucket, compute_bucket_assignment_by_size
from .unused import parameters_behind
from .words import NO_FUTURE, NOT_FINISHED, READY_TWICE

zeros = exports[""]["zeros"]


class Reducer:
    """Averages the gradients of `parameters`; `names` for its errors; buckets hold up to `limits` bytes."""

    def __init__(
        self,
        parameters,
        names,
        assignment,
        limits,
        group,
        find_unused=False,
        static_graph=False,
        gradient_as_bucket_view=False,
    ):
        self.parameters, self.names, self.limits, self.group = parameters, names, limits, group
        self.find_unused, self.static_graph, self.as_view = find_unused, static_graph, gradient_as_bucket_view
        self.comm_hook = None
        self.ready_order = []  # indices as they became ready, until buckets were rebuilt
        self.has_rebuilt = False
        self.passes = 0  # forwards that were followed by a backward to synchronise
        self.uses = None  # static graph: how often each parameter's hook fires in a pass
        self.expects_hooks = self.must_finalize = False
        self.active_ranks = None  # a Work of Join: how many ranks divide
        self.divide_by_active = False
        self.make_buckets(assignment)
        for index, parameter in enumerate(parameters):
            parameter.register_post_accumulate_grad_hook(self.hook_of(index))

    # ---- buckets ----

    def make_buckets(self, assignment):
        """Make the flat tensors; `assignment` is a list of lists of indices."""
        self.buckets = [
            Bucket(number, indices, [self.parameters[i] for i in indices])
            for number, indices in enumerate(assignment)
        ]
        self.place = {
            index: (bucket, at) for bucket in self.buckets for at, index in enumerate(bucket.indices)
        }
        if observer.active:
            self.report(
                "buckets",
                buckets=[list(bucket.indices) for bucket in self.buckets],
                nbytes=[bucket.flat.nbytes for bucket in self.buckets],
                names=list(self.names),
            )

    def rebuild_buckets(self):
        """Once, before the second forward: buckets in the order in which gradients became ready, rank 0's on all ranks.

        Returns whether it was done.
        """
        self.check_finished()
        if self.has_rebuilt or not self.ready_order or (self.find_unused and not self.static_graph):
            return False
        order = [self.ready_order]
        broadcast_object_list(order, group=self.group, group_src=0)
        tensors = [self.parameters[index] for index in order[0]]
        self.make_buckets(compute_bucket_assignment_by_size(tensors, self.limits, tensor_indices=order[0]))
        self.has_rebuilt = True
        return True

    # ---- a backward pass ----

    def prepare_for_backward(self, outputs):
        """Called after each forward that will be synchronised; `outputs`: what it returned."""
        self.check_finished()
        self.expects_hooks, self.next_bucket = True, 0
        self.passes += 1
        self.factor = None
        self.is_ready, self.is_used, self.without_grad = set(), set(), set()
        self.left = list(self.uses) if self.uses is not None else [1] * len(self.parameters)
        for bucket in self.buckets:
            bucket.expect_all()
        self.unused = self.unused_in(outputs)
        self.has_marked_unused = False

    def unused_in(self, outputs):
        """Indices of the parameters that this pass will not reach."""
        if self.uses is not None:
            return [index for index, count in enumerate(self.uses) if not count]
        if not self.find_unused or self.static_graph:
            return []
        used = parameters_behind(outputs)
        return [index for index, parameter in enumerate(self.parameters) if id(parameter) not in used]

    def loss_uses(self, outputs):
        """Backward begins, and the loss uses these outputs of the forward: what is behind others gets no gradient."""
        if not self.has_marked_unused:
            self.unused = self.unused_in(outputs)
            self.without_grad = set(self.unused)

    def hook_of(self, index):
        def on_grad(parameter):
            if self.expects_hooks and index not in self.without_grad:  # the engine comes by there with nothing
                self.on_grad(index)

        return on_grad

    def on_grad(self, index):
        """The gradient of a parameter is complete."""
        self.is_used.add(index)
        if not self.must_finalize:
            self.must_finalize = True
            if self.static_graph and self.uses is None:
                self.counts = [0] * len(self.parameters)
                queue_last_callback(self.finish_first_static_pass)
        if self.static_graph and self.uses is None:
            self.counts[index] += 1
            self.ready_order += [index] if self.counts[index] == 1 and not self.has_rebuilt else []
            return
        if not self.has_marked_unused:
            self.has_marked_unused = True
            for unused in self.unused:
                self.mark_ready(unused)
        self.left[index] -= 1
        if self.left[index] > 0:
            return
        self.mark_ready(index)
        if self.next_bucket == len(self.buckets):  # nothing more will become ready
            self.ask_who_used(self.is_used)
            queue_last_callback(self.finalize)

    def finish_first_static_pass(self):
        """A static graph's first pass only counts; its buckets travel when it has ended."""
        self.uses = self.counts
        self.ready_order += [index for index, count in enumerate(self.counts) if not count]
        for index in range(len(self.parameters)):
            self.mark_ready(index)
        self.ask_who_used(self.is_used)
        self.finalize()

    def mark_ready(self, index):
        """Put the gradient into its bucket, and begin what can begin."""
        if index in self.is_ready:
            raise RuntimeError(READY_TWICE.format(index=index, name=self.names[index]))
        self.is_ready.add(index)
        if not self.has_rebuilt and not self.static_graph and not self.find_unused:
            self.ready_order.append(index)
        self.fill(index)
        bucket, _ = self.place[index]
        bucket.pending -= 1
        if observer.active:
            self.report("ready", parameter=index, bucket=bucket.number)
        self.launch_ready()

    @no_grad()
    def fill(self, index):
        """Copy the gradient into its stretch, divided; zeros if there is none."""
        bucket, at = self.place[index]
        view, grad = bucket.views[at], self.parameters[index].grad
        if grad is None:
            view.zero_()
            return
        if grad.data_ptr() != view.data_ptr():
            view.copy_(grad)
        if self.comm_hook is None:
            view.mul_(1 / self.division_factor())

    def division_factor(self):
        """How many ranks share: all of them, or with Join, if so asked, those still at work."""
        if self.factor is None:
            self.factor = self.group.size()
            if self.divide_by_active and self.active_ranks is not None:
                self.factor = int(self.active_ranks.result()[0].item())
        return self.factor

    def launch_ready(self):
        """Begin the all-reduce of every complete bucket whose predecessors have begun."""
        while self.next_bucket < len(self.buckets) and not self.buckets[self.next_bucket].pending:
            self.launch(self.buckets[self.next_bucket])
            self.next_bucket += 1
        for bucket in self.buckets[: self.next_bucket]:  # MPI moves on when it is asked
            bucket.future.done()

    def launch(self, bucket):
        if observer.active:
            self.report("launch", bucket=bucket.number, nbytes=bucket.flat.nbytes)
        bucket.future = self.run_hook(bucket)

    def run_hook(self, bucket):
        """Begin the communication of a bucket: the hook's, or an all-reduce; a Future of the result."""
        if self.comm_hook is not None:
            state, hook = self.comm_hook
            future = hook(state, bucket.public(bucket.number == len(self.buckets) - 1))
            if not (hasattr(future, "done") and hasattr(future, "wait")):
                raise RuntimeError(NO_FUTURE.format(type(future).__name__))
            return future
        return collectives.all_reduce(bucket.flat, group=self.group, async_op=True).get_future()

    def ask_who_used(self, mine):
        """Begin to count the ranks that used each parameter, where some may be unused; `mine`: indices used here."""
        self.used_by = None
        if self.find_unused or self.static_graph:
            self.used_by = zeros(len(self.parameters), dtype=int32)
            for index in mine:
                self.used_by[index] = 1
            self.used_work = collectives.all_reduce(self.used_by, group=self.group, async_op=True)

    @no_grad()
    def finalize(self):
        """Wait for the buckets in order, and give the parameters their averages."""
        self.expects_hooks = self.must_finalize = False
        if observer.active:
            self.report("waiting")
        if self.used_by is not None:
            self.used_work.wait()
        for bucket in self.buckets:
            result = bucket.future.wait()
            result = result[0] if isinstance(result, (list, tuple)) else result
            if result.data_ptr() != bucket.flat.data_ptr():
                bucket.flat.copy_(result)
            if observer.active:
                self.report("arrived", bucket=bucket.number)
            for index, view in zip(bucket.indices, bucket.views):
                self.give_back(self.parameters[index], index, view)
        if observer.active:
            self.report("finished")

    def give_back(self, parameter, index, view):
        """Write the average into `.grad`; a parameter that no rank has used keeps what it has."""
        if self.used_by is not None and not self.used_by[index].item():
            return
        if self.as_view:
            parameter.grad = view
        elif parameter.grad is None:
            parameter.grad = view.clone()
        else:
            parameter.grad.copy_(view)

    # ---- checks ----

    def check_finished(self):
        """RuntimeError if the last pass has left parameters without gradient."""
        if not self.must_finalize:
            return
        missing = [index for index in range(len(self.parameters)) if index not in self.is_ready]
        raise RuntimeError(
            NOT_FINISHED.format(
                rank=self.group.rank(),
                indices=" ".join(map(str, missing)),
                names=", ".join(self.names[index] for index in missing),
            )
        )

    def report(self, phase, **fields):
        observer.report("ddp", phase=phase, time=time.perf_counter(), **fields)

    # ---- what a rank that has joined does instead of a backward pass ----

    def shadow_backward(self):
        """One all-reduce of zeros for each bucket, in order, and the one of who used what.

        The averages arrive here as well, in `.grad`: an optimizer that owns a part of the weights (ZeRO)
        needs them. PyTorch throws them away.
        """
        for bucket in self.buckets:
            bucket.flat.zero_()
            bucket.future = self.run_hook(bucket)
        self.ask_who_used(())
        self.finalize()
        if not self.has_rebuilt and not self.ready_order:
            self.ready_order = list(range(len(self.parameters)))
