"""A small vision transformer on the digits, with warm-up, label smoothing, accumulation and mixed precision."""
import argparse
import gzip
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

DIGITS = Path(__file__).resolve().parents[2] / "teachtorch" / "datasets" / "digits.csv.gz"


class ViT(nn.Module):
    def __init__(self, dim=24, depth=2, heads=3):
        super().__init__()
        self.patches = nn.Conv2d(1, dim, kernel_size=2, stride=2)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, 17, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, dim * 2, dropout=0.0, activation="gelu", batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, norm=nn.LayerNorm(dim), enable_nested_tensor=False)
        self.head = nn.Linear(dim, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), dim=1) + self.pos
        return self.head(self.encoder(x)[:, 0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    torch.set_float32_matmul_precision("highest")
    with gzip.open(DIGITS, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)[:320]
    x, y = torch.tensor(table[:, :64] / 16).view(-1, 1, 8, 8), torch.tensor(table[:, 64], dtype=torch.long)
    weights = 1.0 / torch.bincount(y, minlength=10)[y]
    loader = DataLoader(TensorDataset(x, y), batch_size=32, sampler=WeightedRandomSampler(weights, len(y)))
    model = ViT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.SequentialLR(
        optimizer, [torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=2),
                    torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)], milestones=[2])
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    scaler = GradScaler("cpu", enabled=args.amp)
    accumulate = 2
    for step, (images, labels) in zip(range(args.steps), loader):
        with autocast("cpu", dtype=torch.bfloat16) if args.amp else nullcontext():
            loss = criterion(model(images), labels) / accumulate
        scaler.scale(loss).backward()
        if (step + 1) % accumulate == 0:
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            schedule.step()
            print(f"step {step} loss {loss.item() * accumulate:.5f} norm {norm.item():.4f}")
    torch.use_deterministic_algorithms(False)
    top = model.eval()(x[:64]).softmax(-1).topk(3, dim=-1)
    print(f"top1 {(top.indices[:, 0] == y[:64]).float().mean():.4f} "
          f"top3 {(top.indices == y[:64, None]).any(1).float().mean():.4f} {top.values.sum():.4f}")


if __name__ == "__main__":
    main()
