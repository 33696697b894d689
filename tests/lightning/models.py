"""Small modules for the tests of the trainer."""

import teachtorch as torch
import teachtorch.lightning as L
from teachtorch import nn
from teachtorch.utils.data import DataLoader, TensorDataset


def dataset(count=8):
    generator = torch.Generator()
    generator.manual_seed(3)
    return TensorDataset(
        torch.randn(count, 4, generator=generator), torch.randn(count, 1, generator=generator)
    )


def loader(count=8, batch_size=2, shuffle=False, **options):
    return DataLoader(dataset(count), batch_size, shuffle=shuffle, **options)


class Regression(L.LightningModule):
    """A linear layer with dropout before it, so that random numbers matter; `losses` keeps every training loss."""

    def __init__(self, dropout=0.0, optimizer=None, scheduler=None):
        super().__init__()
        self.layer = nn.Sequential(nn.Dropout(dropout), nn.Linear(4, 1))
        with torch.no_grad():
            self.layer[1].weight.fill_(0.5)
            self.layer[1].bias.fill_(0.1)
        self.make_optimizer = optimizer or (lambda parameters: torch.optim.SGD(parameters, lr=0.05))
        self.make_scheduler, self.losses = scheduler, []

    def forward(self, x):
        return self.layer(x)

    def loss(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self(x), y)

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.losses.append(loss.item())
        self.log("loss", loss, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.loss(batch))

    def predict_step(self, batch, batch_idx):
        return self(batch[0])

    def configure_optimizers(self):
        optimizer = self.make_optimizer(self.parameters())
        if self.make_scheduler is None:
            return optimizer
        return {"optimizer": optimizer, "lr_scheduler": self.make_scheduler(optimizer)}


def trainer(folder, **options):
    """A quiet Trainer that writes into `folder`."""
    quiet = {
        "logger": False,
        "enable_progress_bar": False,
        "enable_checkpointing": False,
        "default_root_dir": folder,
    }
    return L.Trainer(**{**quiet, **options})
