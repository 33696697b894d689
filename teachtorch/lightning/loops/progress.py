"""How far training is: the numbers that a checkpoint needs to go on from exactly here."""

from dataclasses import asdict, dataclass


@dataclass
class Progress:
    """epoch: epochs completed. batch: batches of this epoch completed; total_batches: of all epochs.

    steps: optimizer steps, of all optimizers (global_step). stepped: batches after which an optimizer has
    stepped; the axis of the loggers. position, in the current epoch:

        "start"      before its loader has begun
        "batch"      a batch is done; its validation, if it is due, is still to come
        "validated"  that is done, too
        "between"    on the way to the next batch, or to the first
        "epoch_end"  all batches are done, and the hooks at the end have run
    """

    epoch: int = 0
    batch: int = 0
    total_batches: int = 0
    steps: int = 0
    stepped: int = 0
    position: str = "start"

    def state_dict(self):
        return asdict(self)

    def load_state_dict(self, state):
        self.__dict__.update(state)
