"""Learning rate schedulers: they change the groups' "lr" after each epoch (or batch).

    for epoch in range(10):
        train(optimizer)            # optimizer.step() first,
        scheduler.step()            # then scheduler.step()

Most are recursive ("chainable"): the new rate is a factor times the *current* one, so that several schedulers
can act on one optimizer, each multiplying. `_get_closed_form_lr` is the same from the first rate on, for
step(epoch). https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate

    base.py      LRScheduler                factors.py   StepLR, ExponentialLR, LambdaLR ...
    cycles.py    cosines, OneCycleLR ...    several.py   SequentialLR, ChainedScheduler
    plateau.py   ReduceLROnPlateau
"""

from .base import LRScheduler, _LRScheduler  # noqa: F401
from .cycles import CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from .factors import ConstantLR, ExponentialLR, LambdaLR, LinearLR, MultiStepLR, MultiplicativeLR, PolynomialLR, StepLR
from .plateau import ReduceLROnPlateau
from .several import ChainedScheduler, SequentialLR

__all__ = [
    "LRScheduler", "LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR",
    "PolynomialLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR", "SequentialLR",
    "ChainedScheduler", "ReduceLROnPlateau",
]
for _name in ("_LRScheduler", *__all__):
    globals()[_name].__module__ = __name__      # where PyTorch has them, and pickles look for them
