"""ZeroRedundancyOptimizer: each rank keeps the optimizer's state of its own part of the parameters only
(ZeRO, stage 1).

    step()      each rank updates the parameters that it owns, with its own optimizer; then the owners
    broadcast them
    saving      consolidate_state_dict(to=0) on all ranks brings the parts together

Averaged gradients are needed everywhere: DistributedDataParallel leaves them. Rajbhandari et al., ZeRO, 2020,
section 5.1.
"""

from ...autograd.grad_mode import enable_grad, no_grad
from ...ops.declare import exports
from ...optim import Optimizer
from ...tensor import Tensor
from .. import collectives, groups
from ..algorithms.join import Join, Joinable, JoinHook
from ..objects import gather_object

cat = exports[""]["cat"]
NOT_CONSOLIDATED = (
    "Optimizer state has not been consolidated on this rank. Please call "
    "`consolidate_state_dict(to={rank})` on "
    "all ranks beforehand if you meant to save the global state."
)


def partition(param_groups, world_size):
    """Which rank owns which parameters: for each rank, a list of parameters for each group.

    In each group the largest goes first, each to the rank that has least so far, of equals the lowest; what a
    rank has counts across groups.
    """
    owned, totals = [[] for _ in range(world_size)], [0] * world_size
    for group in param_groups:
        for of_rank in owned:
            of_rank.append([])
        for param in sorted(group["params"], key=Tensor.numel, reverse=True):
            rank = totals.index(min(totals))
            owned[rank][-1].append(param)
            totals[rank] += param.numel()
    return owned


class ZeroJoinHook(JoinHook):
    """A rank without inputs goes on updating its part: nobody else can."""

    def __init__(self, zero):
        self.zero = zero

    def main_hook(self):
        self.zero.step()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An `optimizer_class(params, **defaults)` whose state is divided among the ranks.

    `params`: all parameters, the same in all ranks. parameters_as_bucket_view: the parameters of each owner
    become views of one flat tensor, and travel in one broadcast. `param_groups` are the whole ones; `optim`
    is this rank's optimizer.
    https://docs.pytorch.org/docs/stable/distributed.optim.html#torch.distributed.optim.ZeroRedundancyOptimizer
    """

    def __init__(
        self,
        params,
        optimizer_class,
        process_group=None,
        parameters_as_bucket_view=False,
        overlap_with_ddp=False,
        **defaults,
    ):
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not in teachtorch")
        params = checked(params)
        self.process_group = process_group if process_group is not None else groups.default_group()
        self.world_size, self.rank = self.process_group.size(), self.process_group.rank()
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._optim_class, self._optim_defaults, self.optim = optimizer_class, defaults, None
        self._all_state_dicts = []
        Optimizer.__init__(self, params, defaults)
        Joinable.__init__(self)
        self._divide()

    def _divide(self):
        """Settle who owns what, and make this rank's optimizer."""
        self._owned = partition(self.param_groups, self.world_size)
        mine = [
            {**options_of(group), "params": params}
            for group, params in zip(self.param_groups, self._owned[self.rank])
        ]
        self.optim = self._optim_class(mine, **self._optim_defaults)
        sync_options(self.optim.param_groups, self.param_groups)
        self._flats = (
            [flattened(self.parameters_of(rank)) for rank in range(self.world_size)]
            if self.parameters_as_bucket_view
            else None
        )

    def parameters_of(self, rank):
        """The parameters that a rank owns, in the order of its optimizer."""
        return [param for params in self._owned[rank] for param in params]

    def add_param_group(self, param_group):
        """Add parameters, which are then shared out with the others; states so far stay with their owners."""
        Optimizer.add_param_group(self, param_group)
        if self.optim is None:
            return
        state = self.optim.state
        self._divide()
        self.optim.state.update({p: state[p] for p in self.parameters_of(self.rank) if p in state})

    # ---- steps ----

    def step(self, closure=None, **kwargs):
        """Update this rank's part, then take the others' from their owners. Returns the closure's loss."""
        Join.notify_join_context(self)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        sync_options(self.param_groups, self.optim.param_groups)
        if self.parameters_of(self.rank):
            self.optim.step(**kwargs)
        sync_options(self.optim.param_groups, self.param_groups)
        self._share()
        return loss

    @no_grad()
    def _share(self):
        """Every owner broadcasts its parameters."""
        works = []
        for rank in range(self.world_size):
            tensors = self._flats[rank] if self._flats else self.parameters_of(rank)
            works += [
                collectives.broadcast(t.detach(), group=self.process_group, group_src=rank, async_op=True)
                for t in tensors
            ]
        for work in works:
            work.wait()

    # ---- state ----

    def consolidate_state_dict(self, to=0):
        """Bring all parts of the state to rank `to`; all ranks call this."""
        sync_options(self.param_groups, self.optim.param_groups)
        of_all = [None] * self.world_size if self.rank == to else None
        gather_object(self.optim.state_dict(), of_all, group=self.process_group, group_dst=to)
        self._all_state_dicts = of_all or []

    def state_dict(self):
        """The whole state, in the plain optimizer's form, as last consolidated. RuntimeError without it."""
        if not self._all_state_dicts:
            raise RuntimeError(NOT_CONSOLIDATED.format(rank=self.rank))
        whole = Optimizer.state_dict(self)
        index = self._indices()
        for rank, part in enumerate(self._all_state_dicts):
            params = self.parameters_of(rank)
            whole["state"].update({index[id(params[i])]: values for i, values in part["state"].items()})
        whole["state"] = dict(sorted(whole["state"].items()))
        return whole

    def _indices(self):
        """{id of a parameter: its number among all}."""
        return {id(p): i for i, p in enumerate(p for group in self.param_groups for p in group["params"])}

    def load_state_dict(self, state_dict):
        """Take over options, and the state of this rank's part, from a whole state dict."""
        index = self._indices()
        local = {
            i: state_dict["state"][index[id(p)]]
            for i, p in enumerate(self.parameters_of(self.rank))
            if index[id(p)] in state_dict["state"]
        }
        Optimizer.load_state_dict(self, {"state": {}, "param_groups": state_dict["param_groups"]})
        sync_options(self.param_groups, self.optim.param_groups)
        self.optim.load_state_dict({"state": local, "param_groups": self.optim.state_dict()["param_groups"]})

    # ---- Join ----

    def join_hook(self, **kwargs):
        return ZeroJoinHook(self)

    @property
    def join_device(self):
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self):
        return self.process_group


def checked(params):
    """The parameters as a list, with PyTorch's words for what is wrong with them."""
    if isinstance(params, Tensor):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {params.type()}")
    try:
        params = list(params)
    except TypeError:
        raise TypeError(
            f"`params` argument should be an iterable of Tensors or dicts, but got {type(params).__name__}"
        ) from None
    if not params:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if not all(isinstance(p, (Tensor, dict)) for p in params):
        raise TypeError("`params` argument should be an iterable of Tensors or dicts")
    return params


def options_of(group):
    return {name: value for name, value in group.items() if name not in ("params", "param_names")}


def sync_options(source, target):
    """Copy the options of the groups: a scheduler changes those of one side."""
    for from_group, to_group in zip(source, target):
        to_group.update(options_of(from_group))


@no_grad()
def flattened(params):
    """One flat tensor for each dtype; the parameters become views of them."""
    flats = []
    for dtype in dict.fromkeys(p.dtype for p in params):
        of_dtype = [p for p in params if p.dtype is dtype]
        flat = cat([p.detach().reshape(-1) for p in of_dtype])
        start = 0
        for p in of_dtype:
            p.data = flat[start : start + p.numel()].view(p.shape)
            start += p.numel()
        flats.append(flat)
    return flats
