"""Sharper pictures with sub-pixel convolution (ESPCN)."""
import argparse
from math import log10

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init as init
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super(Net, self).__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 12, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(12, 12, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(12, 8, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(8, upscale_factor ** 2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        return self.pixel_shuffle(self.conv4(x))

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv2.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv4.weight)


def waves(count):
    grid = torch.linspace(0, 6.28, 16)
    phase = torch.rand(count, 1, 1, 1) * 6.28
    frequency = 1 + 2 * torch.rand(count, 1, 1, 1)
    return 0.5 + 0.5 * torch.sin(frequency * (grid.view(1, 1, 16, 1) + grid.view(1, 1, 1, 16)) + phase)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nEpochs", type=int, default=2)
    opt = parser.parse_args()
    torch.manual_seed(123)
    fine = waves(32)
    coarse = F.interpolate(fine, scale_factor=0.5, mode="bicubic", align_corners=False)
    loader = DataLoader(dataset=TensorDataset(coarse, fine), batch_size=8, shuffle=True)
    model = Net(upscale_factor=2)
    criterion = nn.MSELoss()
    optimizer = optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(1, opt.nEpochs + 1):
        epoch_loss = 0
        for iteration, batch in enumerate(loader, 1):
            input, target = batch[0], batch[1]
            optimizer.zero_grad()
            loss = criterion(model(input), target)
            epoch_loss += loss.item()
            loss.backward()
            optimizer.step()
            print("===> Epoch[{}]({}/{}): Loss: {:.5f}".format(epoch, iteration, len(loader), loss.item()))
        with torch.no_grad():
            avg_psnr = sum(10 * log10(1 / criterion(model(i), t).item()) for i, t in loader) / len(loader)
        print("===> Avg. PSNR: {:.4f} dB, bilinear {:.5f}".format(
            avg_psnr, F.mse_loss(F.interpolate(coarse, size=(16, 16), mode="bilinear"), fine)))


if __name__ == "__main__":
    main()
