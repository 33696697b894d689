"""Process groups: which ranks speak with each other, and what carries it.

https://docs.pytorch.org/docs/stable/distributed.html#initialization
"""

import atexit
import os
from collections import Counter
from datetime import timedelta

import numpy as np

from . import black_box, mpi
from .roll_call import RollCall, complaint
from .transport import Alone, OverMPI

default_pg_timeout = timedelta(minutes=30)
WORLD_NAME = "default"
NO_GROUP = "Default process group has not been initialized, please make sure to call init_process_group."
MEETING = 32003  # the tag of the words of members who make a group
MANY = 64  # Works on their way that are too many not to look at
BACKENDS = ("gloo", "mpi")


class ProcessGroup:
    """Ranks that speak with each other: `ranks` by their numbers in the world, in the order of the group."""

    def __init__(self, name, ranks, rank, transport, timeout, backend, roll_call=None):
        self.group_name, self.ranks, self._rank = name, list(ranks), rank
        self.transport, self.timeout, self.backend, self.roll_call = transport, timeout, backend, roll_call
        self.number = 0  # of collectives begun
        self.on_the_way = set()  # Works and Checks begun: MPI writes into their memory, also if nobody waits for them
        self.compared = 0  # collectives that were compared with the other ranks', see agreement.py
        self.unverified = []  # comparisons that no Work waits for

    def rank(self):
        """This process's number in the group."""
        return self._rank

    def size(self):
        """How many ranks the group has."""
        return len(self.ranks)

    def name(self):
        """The backend's name."""
        return self.backend

    def keep(self, work):
        """Hold what has been begun until it is complete; look now and then for what nobody waits for."""
        if len(self.on_the_way) >= MANY:
            for other in list(self.on_the_way):
                other.is_completed()
        self.on_the_way.add(work)

    def next_place(self, name):
        """(group's name, number, name) of the next collective: where this rank is in the group's course."""
        self.number += 1
        return self.group_name, self.number, name

    def local(self, rank):
        """The number in the group of a rank of the world; ValueError for one that is not in it."""
        if self.is_world:  # PyTorch looks at the number only when it is used
            return rank
        if rank not in self.ranks:
            raise ValueError(f"Global rank {rank} is not part of group {self}")
        return self.ranks.index(rank)

    @property
    def is_world(self):
        """Whether it is the group of all ranks."""
        return self.group_name == WORLD_NAME

    def answer(self, place):
        """Tell ranks that miss someone that this one waits at `place`."""
        if self.roll_call is not None:
            self.roll_call.answer(place)

    def who_is_missing(self, place, seconds):
        """The sentence about a collective that does not end."""
        others = [rank for index, rank in enumerate(self.ranks) if index != self._rank]
        answers = self.roll_call.ask(others, place)
        atexit.register(end_all, self.roll_call.MPI)  # MPI's own end would wait for the missing ones
        return complaint(place, seconds, others, answers)

    def __repr__(self):
        return f"<ProcessGroup {self.group_name!r} of ranks {self.ranks}>"


def end_all(MPI):
    MPI.COMM_WORLD.Abort(1)


class GroupMember:
    """`WORLD` is the default group; NON_GROUP_MEMBER is what new_group returns to ranks outside."""

    WORLD = None
    NON_GROUP_MEMBER = -100


class group:
    """`group.WORLD`, the default group."""

    WORLD = None


class _World:
    """The process groups of this process."""

    default = None
    groups = []
    made = 0
    made_by_members = Counter()  # of groups that only their members make: how many of the same ranks


world = _World()


# ---- starting and ending -----------------------------------------------------------------------------------


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
):
    """Make the default group of all ranks that were started together.

    The ranks are MPI's: start them with `python -m teachtorch.distributed.run --nproc-per-node 4 script.py`,
    or with mpiexec and `python -m mpi4py`. A process that was started alone is a group of one, without MPI.
    `backend`: "gloo" or "mpi", it is MPI for both. `timeout`: how long a collective waits for ranks that do
    not come. `world_size` and `rank` must be what they are; `init_method` and `store` are accepted: MPI knows
    who is there. ValueError if there is a default group already; AssertionError for other backends;
    RuntimeError if other ranks are asked for than were started.
    https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
    """
    if world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    backend = checked_backend(backend)
    timeout = default_pg_timeout if timeout is None else checked_timeout(timeout)
    made = over_mpi(timeout, backend) if mpi.runs_under_mpi() else alone(timeout, backend)
    check_what_was_asked(made, world_size, rank)
    world.default = GroupMember.WORLD = group.WORLD = made
    world.groups = [made]


def checked_backend(backend):
    backend = str(backend or "gloo").lower()
    backend = dict(part.split(":") for part in backend.split(",")).get("cpu", "") if ":" in backend else backend
    if backend == "nccl":
        raise ValueError("ProcessGroupNCCL is only supported with GPUs, no GPUs found!")
    if backend not in BACKENDS:
        raise AssertionError(f"Unknown backend type {backend}: there are {', '.join(BACKENDS)}, and MPI carries both")
    return backend


def checked_timeout(timeout):
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timeout


def alone(timeout, backend):
    return ProcessGroup(WORLD_NAME, [0], 0, Alone(), timeout, backend)


def over_mpi(timeout, backend):
    """The group of MPI's world, on a communicator of its own."""
    with black_box.joining(timeout.total_seconds()):
        MPI = mpi.load()
    comm = MPI.COMM_WORLD
    if comm.size == 1:
        return alone(timeout, backend)
    made = ProcessGroup(
        WORLD_NAME, range(comm.size), comm.rank, OverMPI(MPI, comm), timeout, backend, RollCall(MPI, comm)
    )
    meet(made, "init_process_group")
    made.transport = OverMPI(MPI, comm.Dup(), comm.Dup())
    return made


def meet(group, why):
    """Wait until all ranks of the group have come here; what MPI itself makes has no time limit."""
    from .work import Work

    Work(group, why, group.transport.barrier()).wait()


def check_what_was_asked(made, world_size, rank):
    """Compare with the arguments, and with the environment that PyTorch's env:// reads."""
    asked = world_size if world_size != -1 else int(os.environ.get("WORLD_SIZE", -1))
    if asked not in (-1, made.size()):
        raise RuntimeError(
            f"init_process_group was asked for {asked} ranks, but {made.size()} was started together: start "
            "them with "
            f"python -m teachtorch.distributed.run --nproc-per-node {asked} script.py (MPI's ranks cannot "
            "be joined later)"
        )
    if rank not in (-1, made.rank()):
        raise RuntimeError(
            f"init_process_group was called with rank {rank} in MPI's rank {made.rank()}: leave `rank` out"
        )


def destroy_process_group(group=None):
    """Forget a group, and all of them for the default one. ValueError if it does not exist."""
    if world.default is None and group is None:
        raise AssertionError("Process group cannot be None")
    if group in (None, world.default):
        globals()["group"].WORLD = GroupMember.WORLD = world.default = None
        world.groups = []
    elif group in world.groups:
        world.groups.remove(group)
    elif group is not GroupMember.NON_GROUP_MEMBER:
        raise ValueError("Invalid process group specified")


def new_group(
    ranks=None,
    timeout=None,
    backend=None,
    pg_options=None,
    use_local_synchronization=False,
    group_desc=None,
    device_id=None,
    sort_ranks=True,
):
    """A group of some of the ranks; every rank of the world calls this, with the same ranks.

    Returns the group, or `GroupMember.NON_GROUP_MEMBER` in a rank outside. With `use_local_synchronization`
    only its members call. ValueError for ranks that do not exist or come twice; RuntimeError on all ranks if
    they have named different ones.
    """
    parent = default_group()
    ranks = checked_ranks(ranks, parent, sort_ranks)
    is_member = parent.rank() in ranks
    options = timeout or parent.timeout, backend or parent.backend
    if use_local_synchronization:
        made = made_by_its_members(parent, ranks, *options) if is_member else None
    else:
        world.made += 1
        agree(parent, ranks)
        made = make_group(parent, ranks, f"{joined(ranks)}#{world.made}", *options) if is_member else None
    if made is None:
        return GroupMember.NON_GROUP_MEMBER
    world.groups.append(made)
    return made


def agree(parent, ranks):
    """Have all ranks of `parent` come here, and see that they mean the same ranks: MPI would wait for ever."""
    from .work import Work

    mine = np.full(parent.size(), -1, np.int64)
    mine[: len(ranks)] = ranks
    of_all = np.empty((parent.size(), parent.size()), np.int64)
    Work(parent, "new_group", parent.transport.all_gather(mine, of_all)).wait()
    asked = [[rank for rank in row if rank != -1] for row in of_all.tolist()]
    for rank, theirs in enumerate(asked):
        if theirs != asked[0]:
            raise RuntimeError(
                f"new_group: rank 0 asks for the ranks {asked[0]}, rank {rank} for {theirs}. All ranks of the "
                "world name the same ones, in the same order of calls"
            )


def checked_ranks(ranks, parent, sort_ranks):
    if ranks is None:
        return list(parent.ranks)
    if len(ranks) > parent.size():
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    for rank in ranks:
        if not 0 <= rank < parent.size():
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {parent.size() - 1} (world_size={parent.size()})"
            )
    if len(set(ranks)) < len(ranks):
        raise ValueError(f"ranks list must not contain duplicate entries, got {list(ranks)}")
    return sorted(ranks) if sort_ranks else list(ranks)


def joined(ranks):
    return "-".join(map(str, ranks))


def made_by_its_members(parent, ranks, timeout, backend):
    """The group, which the other ranks need not know of. Its members tell each other that they have come."""
    from .work import Work

    world.made_by_members[tuple(ranks)] += 1
    name = f"{joined(ranks)}#members{world.made_by_members[tuple(ranks)]}"
    meeting = ProcessGroup(name, ranks, ranks.index(parent.rank()), None, timeout, backend, parent.roll_call)
    others = [rank for rank in ranks if rank != parent.rank()]
    word = np.ones(1, np.uint8)
    begun = [parent.transport.send(word, rank, MEETING) for rank in others]
    begun += [parent.transport.receive(np.empty(1, np.uint8), rank, MEETING) for rank in others]
    for request in begun:
        Work(meeting, "new_group", request).wait()
    return make_group(parent, ranks, name, timeout, backend)


def make_group(parent, ranks, name, timeout, backend):
    rank = ranks.index(parent.rank())
    if len(ranks) == 1:
        return ProcessGroup(name, ranks, 0, Alone(), timeout, backend)
    MPI, comm = parent.transport.MPI, parent.transport.comm
    comm = comm.Create_group(comm.group.Incl(ranks), tag=hash(tuple(ranks)) % 30000)
    carrier = OverMPI(MPI, comm, comm.Dup())
    return ProcessGroup(name, ranks, rank, carrier, timeout, backend, parent.roll_call)


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """Cut the world into groups of `group_size` ranks, this machine's by default: (the group of this rank,
    all groups).
    """
    size = get_world_size()
    group_size = int(os.environ.get("LOCAL_WORLD_SIZE", size)) if group_size is None else group_size
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    return new_subgroups_by_enumeration(
        [range(start, start + group_size) for start in range(0, size, group_size)], timeout, backend
    )


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None, group_desc=None):
    """A group for each list of ranks: (the group of this rank, all groups). ValueError for a rank in two lists."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    mine, made, seen = None, [], {}
    for ranks in ranks_per_subgroup_list:
        made.append(new_group(list(ranks), timeout, backend))
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
        mine = made[-1] if get_rank() in ranks else mine
    return mine, made


# ---- questions ---------------------------------------------------------------------------------------------


def is_available():
    """Always True: a group of one rank needs nothing."""
    return True


def is_initialized():
    """Whether there is a default group."""
    return world.default is not None


def is_mpi_available():
    """Whether mpi4py is installed."""
    return mpi.is_installed()


def is_gloo_available():
    """True: "gloo" is accepted, and carried by MPI."""
    return True


def is_nccl_available():
    """Whether there is the backend NCCL: no."""
    return False


is_ucc_available = is_xccl_available = is_nccl_available


def is_backend_available(backend):
    """Whether init_process_group takes this backend, a name in any case or "cpu:gloo"."""
    names = [part.rpartition(":")[2] for part in str(backend).lower().split(",")]
    return all(name in BACKENDS for name in names)


def get_default_backend_for_device(device):
    """The backend that is used for a device, if none is named: "gloo"."""
    return BACKENDS[0]


def is_torchelastic_launched():
    """Whether the launcher (`teachtorch.distributed.run`) has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def default_group():
    """The default group. ValueError if there is none."""
    if world.default is None:
        raise ValueError(NO_GROUP)
    return world.default


def group_of(group):
    """The group that an argument means; None in a rank that is not in it."""
    if group is None:
        return default_group()
    return None if group is GroupMember.NON_GROUP_MEMBER else group


def get_rank(group=None):
    """This process's number in the group; -1 if it is not in it."""
    found = group_of(group)
    return -1 if found is None else found.rank()


def get_world_size(group=None):
    """How many ranks the group has; -1 if this process is not in it."""
    found = group_of(group)
    return -1 if found is None else found.size()


def get_backend(group=None):
    """The backend that was asked for."""
    found = group_of(group)
    if found is None:
        raise ValueError("Invalid process group specified")
    return found.backend


def get_process_group_ranks(group=None):
    """The group's ranks, by their numbers in the world."""
    return list(group_of(group).ranks)


def get_group_rank(group, global_rank):
    """The number in the group of a rank of the world. ValueError if it is not in it."""
    return group_of(group).local(global_rank)


def get_global_rank(group, group_rank):
    """The number in the world of a rank of the group. ValueError if there is none."""
    members = group_of(group)
    if members.is_world:
        return group_rank
    if not 0 <= group_rank < members.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return members.ranks[group_rank]


def get_node_local_rank(fallback_rank=None):
    """This process's number on its machine, from LOCAL_RANK."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context and want "
        "the code to run locally instead."
    )


def get_pg_count():
    """How many groups this process is in."""
    return len(world.groups)
