"""LightningDataModule: everything about the data of a project in one class."""

from .checkpoint import load_datamodule
from .hooks import DataHooks
from .hyperparameters import HyperparametersMixin


class LightningDataModule(DataHooks, HyperparametersMixin):
    """Downloads (prepare_data, one process), makes datasets (setup, every process) and loaders.

    https://lightning.ai/docs/pytorch/stable/data/datamodule.html
    """

    trainer = None

    @classmethod
    def from_datasets(
        cls, train_dataset=None, val_dataset=None, test_dataset=None, predict_dataset=None, batch_size=1, num_workers=0
    ):
        """A data module of datasets; the one for training is shuffled."""
        module = cls()
        chosen = {"train": train_dataset, "val": val_dataset, "test": test_dataset, "predict": predict_dataset}
        for name, dataset in chosen.items():
            if dataset is not None:
                setattr(module, f"{name}_dataloader", loader_maker(dataset, batch_size, num_workers, name == "train"))
        return module

    def state_dict(self):
        """What a checkpoint keeps of the data module."""
        return {}

    def load_state_dict(self, state_dict):
        """Take back what state_dict gave."""

    def on_exception(self, exception):
        """An error ends the run."""

    @classmethod
    def load_from_checkpoint(cls, checkpoint_path, map_location=None, weights_only=None, **kwargs):
        """The data module of a checkpoint, made with its saved hyperparameters."""
        return load_datamodule(cls, checkpoint_path, map_location, weights_only, kwargs)


def loader_maker(dataset, batch_size, num_workers, shuffle):
    """A function that makes the loader, or the list of loaders, of one stage."""
    from ..utils.data import DataLoader

    def make(one):
        return DataLoader(one, batch_size=batch_size, shuffle=shuffle, num_workers=num_workers)

    if isinstance(dataset, (list, tuple)):
        return lambda: [make(one) for one in dataset]
    return lambda: make(dataset)
