"""REINFORCE on a pole that wants to fall."""
import argparse
import math
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical


class Pole:
    """State (angle, speed); action 0 pushes left, 1 right; ends when the pole has fallen."""

    def reset(self, numbers):
        self.angle, self.speed = numbers.uniform(-0.05, 0.05), 0.0
        return [self.angle, self.speed]

    def step(self, action):
        self.speed += 0.05 * math.sin(self.angle) * 10 + (0.12 if action == 1 else -0.12)
        self.angle += 0.1 * self.speed
        return [self.angle, self.speed], 1.0, abs(self.angle) > 0.5


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(2, 16)
        self.dropout = nn.Dropout(p=0.6)
        self.affine2 = nn.Linear(16, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


parser = argparse.ArgumentParser()
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument("--episodes", type=int, default=6)
args = parser.parse_args()
torch.manual_seed(543)
numbers = random.Random(1)
env = Pole()
policy = Policy()
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
eps = torch.finfo(torch.float32).eps


def select_action(state):
    state = torch.tensor(state).float().unsqueeze(0)
    probs = policy(state)
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode():
    R = 0
    policy_loss = []
    returns = deque()
    for r in policy.rewards[::-1]:
        R = r + args.gamma * R
        returns.appendleft(R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    return policy_loss.item()


for i_episode in range(args.episodes):
    state, ep_reward = env.reset(numbers), 0
    for t in range(1, 60):
        action = select_action(state)
        state, reward, done = env.step(action)
        policy.rewards.append(reward)
        ep_reward += reward
        if done:
            break
    loss = finish_episode()
    print(f"Episode {i_episode}\tlength {t}\treward {ep_reward:.2f}\tloss {loss:.5f}")
