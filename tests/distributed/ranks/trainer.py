"""The Trainer on several ranks against one process that sees the joined batches."""

import tempfile

from reporting import run_checks

import teachtorch as torch
import teachtorch.distributed as dist
import teachtorch.lightning as L
from teachtorch import nn
from teachtorch.utils.data import DataLoader, TensorDataset

generator = torch.Generator()
generator.manual_seed(3)
DATA = TensorDataset(torch.randn(24, 4, generator=generator), torch.randn(24, 1, generator=generator))


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.layer(x), y)
        self.log("loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def options(**more):
    return dict(
        max_epochs=2,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        default_root_dir=tempfile.gettempdir(),
        **more,
    )


def alone(accumulate=1):
    """The weights after the same run in one process: in step k all ranks' samples are one batch."""
    ranks, model = dist.get_world_size(), Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = DATA.tensors
    size = 2 * ranks * accumulate
    for _ in range(2):
        losses = []
        for k in range(0, 24, size):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model.layer(x[k : k + size]), y[k : k + size])
            loss.backward()
            losses.append(loss.item())
            optimizer.step()
    return model.layer.weight, sum(losses) / len(losses)


def train(**more):
    model, trainer = Model(), L.Trainer(strategy="ddp", devices=dist.get_world_size(), **options(**more))
    trainer.fit(model, DataLoader(DATA, 2))
    return model, trainer


def gradients_and_logged_values_are_those_of_the_joined_batch():
    model, trainer = train()
    weight, loss = alone()
    assert torch.allclose(model.layer.weight, weight)
    assert abs(trainer.callback_metrics["loss"].item() - loss) < 1e-5
    assert trainer.global_step == 2 * 12 // dist.get_world_size()


def accumulated_batches_travel_once():
    assert torch.allclose(train(accumulate_grad_batches=2)[0].layer.weight, alone(accumulate=2)[0])


def all_ranks_stop_together():
    class Stops(Model):
        def on_train_epoch_end(self):
            self.log("own", float(self.global_rank))

    callback = L.callbacks.EarlyStopping("own", stopping_threshold=0.5)  # only rank 0 is below
    trainer = L.Trainer(strategy="ddp", callbacks=[callback], **options())
    trainer.fit(Stops(), DataLoader(DATA, 2))
    assert trainer.current_epoch == 1


def another_number_of_devices_says_how_to_start():
    try:
        L.Trainer(strategy="ddp", devices=7, **options())
    except L.MisconfigurationException as error:
        assert "teachtorch.distributed.run --nproc-per-node 7" in str(error)
    else:
        raise AssertionError("no error")


if __name__ == "__main__":
    run_checks(
        [
            gradients_and_logged_values_are_those_of_the_joined_batch,
            accumulated_batches_travel_once,
            all_ranks_stop_together,
            another_number_of_devices_says_how_to_start,
        ]
    )
