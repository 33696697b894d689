"""Many processes: torch.distributed on MPI.

    groups.py           who speaks with whom: init_process_group, new_group, ranks
    collectives.py      broadcast, all_reduce, gather, scatter...; point_to_point.py; objects.py
    agreement.py        whether all ranks mean the same collective; debug.py: how closely they look
    transport.py        what carries the bytes: mpi4py's communicators; nothing at all for one rank
    work.py             an operation on its way, and waiting for it with a time limit
    roll_call.py        who is missing when the time is over
    link.py             a simulated link, to see what overlapping hides
    run.py              the launcher: python -m teachtorch.distributed.run --nproc-per-node 4 script.py
    job.py              one such run: waiting for mpiexec, and who is to blame if it cannot go on
    rank.py             how each rank is started; black_box.py: what a rank leaves behind if it dies
    optim/              ZeroRedundancyOptimizer
    algorithms/         Join, and the communication hooks of DistributedDataParallel

DistributedDataParallel itself is in `nn/parallel/`. MPI is fail-stop: when one rank dies, all are ended.
https://docs.pytorch.org/docs/stable/distributed.html
"""
from . import errors, link  # noqa: F401
from .collectives import (all_gather, all_gather_coalesced, all_gather_into_tensor,  # noqa: F401
                          all_reduce, all_reduce_coalesced, all_to_all, all_to_all_single, barrier,
                          broadcast, gather,
                          monitored_barrier, reduce, reduce_scatter, reduce_scatter_tensor, scatter)
from .debug import (DebugLevel, get_debug_level, set_debug_level, set_debug_level_from_env)  # noqa: F401
from .errors import DistBackendError, DistError, DistNetworkError, DistStoreError  # noqa: F401
from .grad_bucket import GradBucket  # noqa: F401
from .groups import (GroupMember, ProcessGroup, default_pg_timeout, destroy_process_group,  # noqa: F401
                     get_backend, get_global_rank, get_group_rank, get_node_local_rank, get_pg_count,
                     get_process_group_ranks,
                     get_default_backend_for_device,
                     get_rank, get_world_size, group, init_process_group, is_available, is_backend_available,
                     is_gloo_available, is_ucc_available, is_xccl_available,
                     is_initialized, is_mpi_available, is_nccl_available, is_torchelastic_launched, new_group,
                     new_subgroups, new_subgroups_by_enumeration)
from .link import simulated_link  # noqa: F401
from .objects import (all_gather_object, broadcast_object_list, gather_object,  # noqa: F401
                      recv_object_list, scatter_object_list, send_object_list)
from .point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send  # noqa: F401
from .reduce_op import ReduceOp  # noqa: F401
from .work import Work  # noqa: F401

# PyTorch's newer names
all_gather_single, reduce_scatter_single = all_gather_into_tensor, reduce_scatter_tensor
