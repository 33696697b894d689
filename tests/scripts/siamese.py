"""Do two pictures show the same digit? One network looks at both."""
import argparse
import gzip
import random
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset

DIGITS = Path(__file__).resolve().parents[2] / "teachtorch" / "datasets" / "digits.csv.gz"


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 6, kernel_size=3, stride=1, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(inplace=True),
            nn.MaxPool2d(2), nn.Conv2d(6, 12, 3), nn.ReLU(), nn.AdaptiveAvgPool2d((1, 1)))
        self.fc = nn.Sequential(nn.Linear(24, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
        self.sigmoid = nn.Sigmoid()
        self.features.apply(self.init_weights)
        self.fc.apply(self.init_weights)

    def init_weights(self, m):
        if isinstance(m, nn.Linear):
            torch.nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.01)

    def forward_once(self, x):
        output = self.features(x)
        return output.view(output.size()[0], -1)

    def forward(self, input1, input2):
        output = torch.cat((self.forward_once(input1), self.forward_once(input2)), 1)
        return self.sigmoid(self.fc(output))


class Pairs(Dataset):
    def __init__(self, count):
        super().__init__()
        with gzip.open(DIGITS, "rt") as file:
            table = np.loadtxt(file, delimiter=",", dtype=np.float32)[:300]
        self.data = torch.from_numpy(table[:, :-1] / 16).view(-1, 8, 8)
        self.targets = torch.from_numpy(table[:, -1]).long()
        self.count = count
        self.group_examples()

    def group_examples(self):
        labels = self.targets.numpy()
        self.grouped_examples = {i: np.where(labels == i)[0] for i in range(10)}

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        one = random.randint(0, 9)
        other = one if index % 2 == 0 else random.choice([d for d in range(10) if d != one])
        picks = [self.data[random.choice(self.grouped_examples[d])].clone().float().unsqueeze(0) for d in (one, other)]
        return picks[0], picks[1], torch.tensor(1 - index % 2, dtype=torch.float)


def train(model, device, loader, optimizer, epoch):
    model.train()
    criterion = nn.BCELoss()
    for batch_idx, (images_1, images_2, targets) in enumerate(loader):
        images_1, images_2, targets = images_1.to(device), images_2.to(device), targets.to(device)
        optimizer.zero_grad()
        outputs = model(images_1, images_2).squeeze()
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} batch {batch_idx} loss {loss.item():.6f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    random.seed(1)
    torch.manual_seed(1)
    device = torch.device("cpu")
    loader = DataLoader(Pairs(64), shuffle=True, batch_size=16)
    model = SiameseNetwork().to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    for epoch in range(1, args.epochs + 1):
        train(model, device, loader, optimizer, epoch)
        scheduler.step()
    model.eval()
    with torch.no_grad():
        a, b, same = next(iter(loader))
        pred = torch.where(model(a, b).squeeze() > 0.5, 1, 0)
        print("correct", pred.eq(same.view_as(pred)).sum().item())


if __name__ == "__main__":
    main()
