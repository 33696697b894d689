"""What the Trainer costs over the plain loop, for models of several sizes.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python -m tests.benchmarks.bench_lightning

Both train the same batches; the best of several turns, taken in turns, is compared. It is CPU time of the main
thread with BLAS in one thread, so that other programs matter less. The aim is at most 3 %.
"""

import tempfile
import time

import teachtorch as torch
import teachtorch.lightning as L
from teachtorch import nn
from teachtorch.utils.data import DataLoader, TensorDataset

BATCHES, TURNS = 100, 7
SIZES = {
    "MLP 64-128-10, batch 64": (64, 128, 64),
    "MLP 784-256-10, batch 64": (784, 256, 64),
    "MLP 784-512-10, batch 256": (784, 512, 256),
}


class Classifier(L.LightningModule):
    def __init__(self, width, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def training_step(self, batch, batch_idx):
        images, labels = batch
        loss = nn.functional.cross_entropy(self.net(images), labels)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def plain(model, loader):
    """The loop that one would write; it keeps the loss as the other one logs it."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for images, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model.net(images), labels)
        loss.backward()
        optimizer.step()
        model.last = loss.detach()


def fitted(model, loader):
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(
            max_epochs=1,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            default_root_dir=folder,
        )
        trainer.fit(model, loader)


def seconds(run, model, loader):
    start = time.thread_time()
    run(model, loader)
    return time.thread_time() - start


def main():
    torch.set_num_threads(1)
    print(f"{'':30}{'plain':>12}{'Trainer':>12}{'overhead':>10}   per batch, best of {TURNS}")
    for name, (width, hidden, batch) in SIZES.items():
        data = TensorDataset(torch.randn(BATCHES * batch, width), torch.randint(10, (BATCHES * batch,)))
        batches = [data[k : k + batch] for k in range(0, len(data), batch)]
        loader = DataLoader(batches, batch_size=None)
        model = Classifier(width, hidden)
        best = {plain: 1e9, fitted: 1e9}
        for _ in range(TURNS):
            for run in best:
                best[run] = min(best[run], seconds(run, model, loader))
        slow, quick = best[fitted] / BATCHES * 1e6, best[plain] / BATCHES * 1e6
        print(f"{name:30}{quick:>9.0f} us{slow:>9.0f} us{100 * (slow / quick - 1):>9.1f}%")


if __name__ == "__main__":
    main()
