"""Actor and critic with continuous actions: a thermostat."""
import argparse
from collections import namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Bernoulli, Normal, kl_divergence

SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(2, 16)
        self.mean = nn.Linear(16, 1)
        self.log_std = nn.Parameter(torch.full((1,), -0.5))
        self.open_window = nn.Linear(16, 1)
        self.value_head = nn.Linear(16, 1)
        self.saved_actions, self.rewards = [], []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return Normal(self.mean(x), self.log_std.exp()), Bernoulli(logits=self.open_window(x)), self.value_head(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=4)
    parser.add_argument("--gamma", type=float, default=0.9)
    args = parser.parse_args()
    torch.manual_seed(7)
    model = Policy()
    optimizer = optim.RMSprop(model.parameters(), lr=3e-3)
    for episode in range(args.episodes):
        temperature, goal, entropy, drift = 15.0, 20.0, [], []
        for t in range(12):
            heat, window, value = model(torch.tensor([temperature / 20, goal / 20]))
            action, is_open = heat.sample(), window.sample()
            model.saved_actions.append(SavedAction(heat.log_prob(action) + window.log_prob(is_open), value))
            entropy.append(heat.entropy() + window.entropy())
            drift.append(kl_divergence(heat, Normal(0.0, 1.0)))
            temperature += action.clamp(-1, 1).item() - 0.3 * is_open.item()
            model.rewards.append(-abs(temperature - goal))
        R, returns = 0, []
        for r in model.rewards[::-1]:
            R = r + args.gamma * R
            returns.insert(0, R)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-6)
        policy_losses, value_losses = [], []
        for (log_prob, value), R in zip(model.saved_actions, returns):
            advantage = R - value.item()
            policy_losses.append(-log_prob * advantage)
            value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
        optimizer.zero_grad()
        loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
        loss = loss - 0.01 * torch.stack(entropy).sum() + 0.001 * torch.cat(drift).mean()
        loss.backward()
        optimizer.step()
        del model.rewards[:]
        del model.saved_actions[:]
        print(f"Episode {episode} temperature {temperature:.4f} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
