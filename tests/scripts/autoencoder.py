"""A denoising autoencoder that is saved, loaded and trained on."""
import argparse
import copy
import gzip
import io
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn

DIGITS = Path(__file__).resolve().parents[2] / "teachtorch" / "datasets" / "digits.csv.gz"


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ELU(), nn.Linear(32, 8))
        self.decoder = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 64), nn.Sigmoid(),
                                     nn.Unflatten(1, (1, 8, 8)))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def corrupt(x):
    return torch.where(torch.rand_like(x) < 0.2, torch.zeros_like(x), x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    with gzip.open(DIGITS, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)[:256]
    images = torch.from_numpy(np.ascontiguousarray(table[:, :64])).div_(16).reshape(-1, 1, 8, 8)
    model = Autoencoder()
    average = copy.deepcopy(model)
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    for epoch in range(args.epochs):
        for batch in images[torch.randperm(len(images))].split(64):
            loss = nn.functional.mse_loss(model(corrupt(batch)), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(average.parameters(), model.parameters()):
                    slow.lerp_(fast, 0.1)
        scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.6f} lr {scheduler.get_last_lr()[0]:.6f}")
        file = io.BytesIO()
        torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "scheduler": scheduler.state_dict(), "rng": torch.get_rng_state()}, file)
        file.seek(0)
        checkpoint = torch.load(file)
        model = Autoencoder()
        model.load_state_dict(checkpoint["model"])
        optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
        scheduler.load_state_dict(checkpoint["scheduler"])
        torch.set_rng_state(checkpoint["rng"])
    with torch.no_grad():
        print(f"averaged {nn.functional.mse_loss(average(images), images):.6f}")


if __name__ == "__main__":
    main()
