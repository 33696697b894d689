"""TensorBoardLogger: event files for TensorBoard, written with the `tensorboard` package."""

import time
from importlib.util import find_spec

from .logger import FolderLogger

ABSENT = (
    "TensorBoardLogger needs the package `tensorboard`: pip install tensorboard (or teachtorch[lightning]). "
    "CSVLogger needs nothing."
)


class TensorBoardLogger(FolderLogger):
    """Writes scalars to save_dir/name/version_N; look at them with `tensorboard --logdir save_dir`.

    ModuleNotFoundError without the package.
    """

    def __init__(self, save_dir, name="lightning_logs", version=None, prefix=""):
        if not find_spec("tensorboard"):
            raise ModuleNotFoundError(ABSENT)
        super().__init__(save_dir, name, version)
        self.prefix, self._writer = prefix, None

    @property
    def experiment(self):
        """tensorboard's EventFileWriter."""
        if self._writer is None:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter

            self._writer = EventFileWriter(self.log_dir)
        return self._writer

    def log_metrics(self, metrics, step=None):
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        prefix = f"{self.prefix}-" if self.prefix else ""
        values = [
            Summary.Value(tag=f"{prefix}{name}", simple_value=float(value)) for name, value in metrics.items()
        ]
        self.experiment.add_event(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def save(self):
        """Events are written by tensorboard's own thread; finalize waits for it."""

    def finalize(self, status):
        if self._writer is not None:
            self._writer.close()
            self._writer = None
