"""DistributedSampler: each of several processes its own part of a dataset."""
import math

from ...ops.declare import exports
from .sampler import Sampler

randperm, Generator = exports[""]["randperm"], exports[""]["Generator"]


class DistributedSampler(Sampler):
    """Every `num_replicas`-th index, beginning with the `rank`-th: rank r of R takes indices[r::R].

    All ranks take equally many: the indices are filled up from their own beginning, or cut with `drop_last`.
    `shuffle`: in a random order that follows from `seed` + epoch, the same in all ranks; call `set_epoch` before
    each epoch, else every epoch has the same order. ValueError for a rank that does not exist, and where
    `num_replicas` or `rank` is left to a process group that is not there.
    https://pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        num_replicas, rank = placed(num_replicas, rank)
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.drop_last, self.shuffle, self.seed = 0, drop_last, shuffle, seed
        is_cut = drop_last and len(dataset) % num_replicas != 0
        self.num_samples = math.ceil((len(dataset) - (num_replicas if is_cut else 0)) / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        indices = self._order()
        if not self.drop_last and indices:
            indices *= math.ceil(self.total_size / len(indices))
        return iter(indices[:self.total_size][self.rank::self.num_replicas])

    def _order(self):
        """All indices, in the order of this epoch."""
        if not self.shuffle:
            return list(range(len(self.dataset)))
        generator = Generator()
        generator.manual_seed(self.seed + self.epoch)
        return randperm(len(self.dataset), generator=generator).tolist()

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Say which epoch comes, so that its order is another one."""
        self.epoch = epoch


def placed(num_replicas, rank):
    """Both numbers; what is None is asked of the default process group."""
    if num_replicas is not None and rank is not None:
        return num_replicas, rank
    from ...distributed import get_rank, get_world_size

    return (get_world_size() if num_replicas is None else num_replicas), (get_rank() if rank is None else rank)
