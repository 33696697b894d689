"""CSVLogger: one row of metrics.csv for each call."""

import csv
import os

from .logger import FolderLogger


class CSVLogger(FolderLogger):
    """Writes metrics.csv and hparams.yaml to save_dir/name/version_N.

    `flush_logs_every_n_steps`: how many rows are held back. A metric that appears later adds a column.
    https://lightning.ai/docs/pytorch/stable/extensions/generated/lightning.pytorch.loggers.CSVLogger.html
    """

    FILE = "metrics.csv"

    def __init__(self, save_dir, name="lightning_logs", version=None, prefix="", flush_logs_every_n_steps=100):
        super().__init__(save_dir, name, version)
        self.prefix, self.flush_every = prefix, flush_logs_every_n_steps
        self._rows, self._columns, self._held = [], [], 0

    def log_metrics(self, metrics, step=None):
        prefix = f"{self.prefix}-" if self.prefix else ""
        row = {f"{prefix}{name}": float(value) if name != "epoch" else value for name, value in metrics.items()}
        row["step"] = len(self._rows) if step is None else step
        self._columns += sorted(set(row) - set(self._columns))
        self._rows.append(row)
        self._held += 1

    def save(self):
        if self._held >= self.flush_every:
            self._write()

    def finalize(self, status):
        if self._held:
            self._write()

    def _write(self):
        """All rows: a new column changes the lines above, too."""
        os.makedirs(self.log_dir, exist_ok=True)
        with open(os.path.join(self.log_dir, self.FILE), "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self._columns)
            writer.writeheader()
            writer.writerows(self._rows)
        self._held = 0
