"""Progress bars: a line that shows the epoch, the batch, and the metrics logged with prog_bar=True."""

import math
import sys
from importlib.util import find_spec

from .callback import Callback

ABSENT = "TQDMProgressBar needs the package `tqdm`: pip install tqdm (or teachtorch[lightning])"


def default_progress_bar():
    """tqdm's if it is installed, else the plain one."""
    return TQDMProgressBar() if find_spec("tqdm") else ProgressBar()


class ProgressBar(Callback):
    """A line of plain text, rewritten every `refresh_rate` batches; on something that is no terminal, one per epoch.

    Subclasses replace show() and close().
    """

    def __init__(self, refresh_rate=1, stream=None):
        self.refresh_rate, self.stream = refresh_rate, stream
        self._width = 0

    @property
    def out(self):
        return self.stream or sys.stdout

    def metrics(self, trainer):
        """{name: text}: what is logged with prog_bar=True, and which run of the logger this is."""
        shown = {name: f"{value:.3g}" for name, value in trainer.progress_bar_metrics.items()}
        version = getattr(trainer.logger, "version", None)
        return shown if version is None else {"v_num": str(version), **shown}

    # ---- the hooks ----------------------------------------------------------------------------------------

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if self.refresh_rate and (batch_idx + 1) % self.refresh_rate == 0 and trainer.is_global_zero:
            self.show(trainer, f"Epoch {trainer.current_epoch}", batch_idx + 1, trainer.num_training_batches)

    def on_train_epoch_end(self, trainer, pl_module):
        if self.refresh_rate and trainer.is_global_zero:
            self.show(
                trainer, f"Epoch {trainer.current_epoch}", trainer.batch_idx + 1, trainer.num_training_batches, True
            )
            self.close()

    def on_exception(self, trainer, pl_module, exception):
        self.close()

    # ---- drawing ------------------------------------------------------------------------------------------

    def show(self, trainer, title, count, total, is_last=False):
        """Draw the bar. `total` may be math.inf."""
        if not is_last and not self.out.isatty():
            return
        line = f"{title}: {bar(count, total)} " + ", ".join(f"{k}={v}" for k, v in self.metrics(trainer).items())
        self.out.write("\r" + line.rstrip().ljust(self._width) if self.out.isatty() else line.rstrip())
        self._width = len(line)
        self.out.flush()

    def close(self):
        """End the line."""
        if self._width:
            self.out.write("\n")
            self._width = 0


def bar(count, total, width=20):
    if total == math.inf or not total:
        return f"{count}/?"
    filled = round(width * count / total)
    return f"|{'#' * filled}{' ' * (width - filled)}| {count}/{total}"


class TQDMProgressBar(ProgressBar):
    """A bar of the tqdm package: with the rate and the time left. ModuleNotFoundError without the package."""

    def __init__(self, refresh_rate=1, stream=None):
        if not find_spec("tqdm"):
            raise ModuleNotFoundError(ABSENT)
        super().__init__(refresh_rate, stream)
        self.bar = None

    def show(self, trainer, title, count, total, is_last=False):
        if self.bar is None:
            from tqdm.auto import tqdm

            total = None if total == math.inf else total
            self.bar = tqdm(desc=title, total=total, file=self.out, dynamic_ncols=True, leave=True)
        self.bar.set_postfix(self.metrics(trainer), refresh=False)
        self.bar.update(count - self.bar.n)
        if is_last:
            self.bar.refresh()

    def close(self):
        if self.bar is not None:
            self.bar.close()
            self.bar = None
