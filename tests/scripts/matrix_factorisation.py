"""Who likes what: ratings as products of two short vectors, and biases."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Recommender(nn.Module):
    def __init__(self, users, items, factors=8):
        super().__init__()
        self.user, self.item = nn.Embedding(users, factors), nn.Embedding(items, factors)
        self.user_bias, self.item_bias = nn.Embedding(users, 1), nn.Embedding(items, 1)
        self.offset = nn.Parameter(torch.tensor(0.0))
        for table in (self.user, self.item):
            nn.init.trunc_normal_(table.weight, std=0.1)

    def forward(self, user, item):
        dot = (self.user(user) * self.item(item)).sum(-1)
        return self.offset + dot + self.user_bias(user).squeeze(-1) + self.item_bias(item).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--optimizer", default="SGD")
    args = parser.parse_args()
    generator = torch.Generator().manual_seed(5)
    torch.manual_seed(5)
    users, items = 12, 9
    taste = torch.randn(users, 3, generator=generator) @ torch.randn(3, items, generator=generator)
    u, i = torch.cartesian_prod(torch.arange(users), torch.arange(items)).unbind(1)
    ratings = taste[u, i] + 0.1 * torch.randn(len(u), generator=generator)
    train, test = random_split(TensorDataset(u, i, ratings), [0.8, 0.2], generator=generator)
    model = Recommender(users, items)
    optimizer = getattr(torch.optim, args.optimizer)(model.parameters(), lr=0.1, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    for epoch in range(args.epochs):
        total = 0.0
        for user, item, rating in DataLoader(train, batch_size=16, shuffle=True, generator=generator):
            loss = nn.functional.huber_loss(model(user, item), rating)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(rating)
        with torch.inference_mode():
            user, item, rating = (torch.stack(c) for c in zip(*test))
            error = nn.functional.mse_loss(model(user, item), rating).sqrt()
        scheduler.step(error)
        print(f"epoch {epoch} loss {total / len(train):.6f} rmse {error:.5f} lr {optimizer.param_groups[0]['lr']}")


if __name__ == "__main__":
    main()
