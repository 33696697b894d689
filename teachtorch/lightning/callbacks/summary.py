"""ModelSummary: the parts of a module and their sizes, printed before training."""

from .callback import Callback


class ModelSummary(Callback):
    """Prints a line for each direct part of the module: its name, type, and number of parameters."""

    def on_fit_start(self, trainer, pl_module):
        if trainer.is_global_zero:
            print(summary(pl_module))


def summary(module):
    """The table, with the numbers of trainable and of all parameters below it."""
    rows = [(name, type(part).__name__, count(part.parameters())) for name, part in module.named_children()]
    width = max([len(name) for name, *_ in rows] + [4])
    lines = [f"{name:<{width}}  {kind:<20}{parameters:>12,}" for name, kind, parameters in rows]
    trains = count(p for p in module.parameters() if p.requires_grad)
    return "\n".join([*lines, f"{trains:,} trainable of {count(module.parameters()):,} parameters"])


def count(parameters):
    return sum(p.numel() for p in parameters)
