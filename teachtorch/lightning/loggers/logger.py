"""The base of loggers, and the folders version_0, version_1... that both of ours write to."""

import os
import re


class Logger:
    """Base class: log_metrics, log_hyperparams, and save."""

    name, version, save_dir = None, None, None

    @property
    def log_dir(self):
        """The folder of this run, or None."""
        return None

    @property
    def experiment(self):
        """What the logger writes with, for calls of one's own."""
        return None

    def log_metrics(self, metrics, step=None):
        """Take a dict of numbers."""
        raise NotImplementedError

    def log_hyperparams(self, params):
        """Take the hyperparameters."""

    def save(self):
        """Write what is still held back."""

    def finalize(self, status):
        """The run is over: "success" or "failed"."""
        self.save()


class FolderLogger(Logger):
    """Writes to save_dir/name/version; a version that is not given is the next free version_N."""

    def __init__(self, save_dir, name="lightning_logs", version=None):
        self.save_dir, self.name, self._version = os.fspath(save_dir), name or "", version

    @property
    def root_dir(self):
        return os.path.join(self.save_dir, self.name)

    @property
    def version(self):
        """A number, or a name that was given."""
        if self._version is None:
            self._version = next_version(self.root_dir)
        return self._version

    @property
    def log_dir(self):
        version = self.version if isinstance(self.version, str) else f"version_{self.version}"
        return os.path.join(self.root_dir, version)

    def log_hyperparams(self, params):
        """Write hparams.yaml: a line for each."""
        os.makedirs(self.log_dir, exist_ok=True)
        with open(os.path.join(self.log_dir, "hparams.yaml"), "w", encoding="utf-8") as file:
            file.writelines(f"{name}: {plain(value)}\n" for name, value in dict(params).items())


def next_version(folder):
    """One more than the highest N of the folders version_N."""
    names = os.listdir(folder) if os.path.isdir(folder) else []
    taken = [int(found[1]) for found in (re.fullmatch(r"version_(\d+)", name) for name in names) if found]
    return max(taken, default=-1) + 1


def plain(value):
    """A value as YAML has it: numbers and words as they are, null, true and false, others in quotes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, (int, float)) else repr(value)
