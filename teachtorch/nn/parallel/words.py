"""The errors of DistributedDataParallel, in PyTorch's words, with the parameters' names."""

NOT_FINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates that "
    "your module has parameters that were not used in producing loss. You can enable unused parameter detection by "
    "passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and "
    "by \nmaking sure all `forward` function outputs participate in calculating loss. \nIf you already have done the "
    "above, then the distributed data parallel module wasn't able to locate the output tensors in the return value of "
    "your module's `forward` function.\nParameter indices which did not receive grad for rank {rank}: {indices} "
    "({names})"
)

READY_TWICE = (
    "Expected to mark a variable ready only once. This error is caused by one of the following reasons: 1) Use of a "
    "module parameter outside the `forward` function. Please make sure model parameters are not shared across "
    "multiple concurrent forward-backward passes, or try to use _set_static_graph() as a workaround if this module "
    "graph does not change during training loop. 2) Reused parameters in multiple reentrant backward passes. For "
    "example, if you use multiple `checkpoint` functions to wrap the same part of your model, it would result in the "
    "same set of parameters been used by different reentrant backward passes multiple times, and hence marking a "
    "variable ready multiple times. DDP does not support such use cases in default. You can try to use "
    "_set_static_graph() as a workaround if your module graph does not change over iterations.\nParameter at index "
    "{index} with name {name} has been marked as ready twice. This means that multiple autograd engine hooks have "
    "fired for this particular parameter during this iteration."
)

NOT_NEEDED = (
    "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient."
)

NO_FUTURE = "DDP communication hook's callback must return a torch.futures.Future object, but got {}"
