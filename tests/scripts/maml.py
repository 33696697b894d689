"""Learning to learn: a few steps of gradient descent, differentiated through (MAML)."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, vmap


def net():
    return nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))


def tasks(count, points):
    amplitude = torch.empty(count, 1, 1).uniform_(0.5, 2)
    phase = torch.empty(count, 1, 1).uniform_(0, math.pi)
    x = torch.empty(count, points, 1).uniform_(-2, 2)
    return x, amplitude * torch.sin(x + phase)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(args.steps):
        x, y = tasks(4, 10)
        optimizer.zero_grad()
        outer = torch.tensor(0.0)
        for task_x, task_y in zip(x, y):
            fast = dict(model.named_parameters())
            for _ in range(2):
                inner = F.mse_loss(functional_call(model, fast, (task_x[:5],)), task_y[:5])
                grads = torch.autograd.grad(inner, list(fast.values()), create_graph=True)
                fast = {name: w - 0.05 * g for (name, w), g in zip(fast.items(), grads)}
            outer = outer + F.mse_loss(functional_call(model, fast, task_x[5:]), task_y[5:])
        outer.backward()
        optimizer.step()
        print(f"step {step} outer loss {outer.item() / 4:.6f}")
    weights = {name: p.detach() for name, p in model.named_parameters()}

    def loss_of(weights, x, y):
        return F.mse_loss(functional_call(model, weights, (x,)), y)
    per_task = vmap(grad(loss_of), in_dims=(None, 0, 0))(weights, *tasks(3, 6))
    print("gradient norms", " ".join(f"{n:.5f}" for n in per_task["0.weight"].flatten(1).norm(dim=1)))


if __name__ == "__main__":
    main()
