"""Seeds of a DataLoader's workers: another one for each worker and for each epoch.

Workers that are forked start with copies of the same random generators. Without new seeds, all of them would
draw the same "random" augmentations. So each time an iterator over the loader is made, one base seed is drawn
from the loader's generator (with no workers as well), and worker k seeds its generators with base + k.
Workers that stay (persistent_workers=True) belong to one iterator: they are not seeded again, their
generators go on.

NumPy's global generator takes 32-bit words. PyTorch gives it four, made of these (SeedSequence mixes them):

    [worker_id, low 32 bits of the base seed, the bits above them, 0]
"""


def epoch_seeds(draw, epochs, num_workers, persistent=False):
    """The seeds of all epochs: a list for each epoch, with a seed for each worker.

    draw: a function that draws one base seed from the loader's generator. persistent: whether workers stay;
    of the epochs after the first, the list is empty then, since nobody is seeded.
    """
    raise NotImplementedError


def numpy_words(base_seed, worker_id):
    """The four words for NumPy's generator of a worker, each below 2**32."""
    raise NotImplementedError
