"""What the Trainer costs over the plain loop, for models of several sizes.

    python -m tests.benchmarks.bench_lightning

Both train the same batches, log or keep the loss of each, and are timed from their set-up to their end. The
best of several turns, taken in turns, is compared. It is CPU time of the main thread with BLAS in one thread,
so that other programs matter less. The aim is at most 3 %.

Each turn begins with another number of calls on the stack: CPython keeps the frames of calls in pieces of
16 KB, and a loop whose calls happen to begin a new piece again and again is up to a third slower, plain or not.
"""

import tempfile
import time

import teachtorch as torch
import teachtorch.lightning as L
from teachtorch import nn
from teachtorch.datasets import split_digits
from teachtorch.utils.data import DataLoader

BATCHES, TURNS = 100, 15


def mlp(width, hidden):
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 10))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 64, 10),
    )


def random_batches(width, size):
    return [(torch.randn(size, width), torch.randint(10, (size,))) for _ in range(BATCHES)]


def digits(size):
    """Batches of images of 1 x 8 x 8, over and over."""
    images, labels = (torch.from_numpy(part[: size * 20]) for part in split_digits()[0])
    pairs = list(zip(images.view(-1, 1, 8, 8).float().split(size), labels.split(size)))
    return [pairs[k % len(pairs)] for k in range(BATCHES)]


CASES = {
    "MLP 64-128-10, batch 64": (lambda: mlp(64, 128), lambda: random_batches(64, 64)),
    "MLP 784-256-10, batch 64": (lambda: mlp(784, 256), lambda: random_batches(784, 64)),
    "CNN on the digits, batch 64": (cnn, lambda: digits(64)),
}


class Classifier(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        images, labels = batch
        loss = nn.functional.cross_entropy(self.net(images), labels)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def plain(model, loader, folder):
    """The same operations in the same order; it keeps the loss as the other one logs it."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for images, labels in loader:
        loss = nn.functional.cross_entropy(model.net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.last = loss.detach()


def fitted(model, loader, folder):
    trainer = L.Trainer(
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        default_root_dir=folder,
    )
    trainer.fit(model, loader)


def seconds(depth, run, *args):
    """CPU seconds of run(*args), with `depth` more calls around it."""
    if depth:
        return seconds(depth - 1, run, *args)
    start = time.thread_time()
    run(*args)
    return time.thread_time() - start


def main():
    torch.set_num_threads(1)
    print(f"{'':30}{'plain':>12}{'Trainer':>12}{'overhead':>19}   per batch, best of {TURNS}")
    for name, (make, batches) in CASES.items():
        model, loader = Classifier(make()), DataLoader(batches(), batch_size=None)
        best = {plain: 1e9, fitted: 1e9}
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(TURNS):
                for run in best:
                    best[run] = min(best[run], seconds(turn % 10, run, model, loader, folder))
        slow, quick = best[fitted] / BATCHES * 1e6, best[plain] / BATCHES * 1e6
        percent = 100 * (slow / quick - 1)
        print(f"{name:30}{quick:>9.0f} us{slow:>9.0f} us{slow - quick:>9.1f} us{percent:>7.1f}%")


if __name__ == "__main__":
    main()
