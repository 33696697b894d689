"""Words and their classes: a bidirectional LSTM on packed sequences of unequal length."""
import argparse
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

TAGS = {"the": 0, "a": 0, "dog": 1, "cat": 1, "apple": 1, "ate": 2, "saw": 2, "read": 2, "quickly": 3, "book": 1}
WORDS = {word: i + 1 for i, word in enumerate(TAGS)}


def sentence(numbers):
    words = [numbers.choice(["the", "a"]), numbers.choice(["dog", "cat"]), numbers.choice(["ate", "saw", "read"])]
    if numbers.random() < 0.7:
        words += [numbers.choice(["the", "a"]), numbers.choice(["apple", "book"])]
    return words + ["quickly"] * (numbers.random() < 0.3)


def collate(batch):
    lengths = torch.tensor([len(s) for s in batch])
    words = pad_sequence([torch.tensor([WORDS[w] for w in s]) for s in batch], batch_first=True)
    tags = pad_sequence([torch.tensor([TAGS[w] for w in s]) for s in batch], batch_first=True, padding_value=-100)
    return words, tags, lengths


class Tagger(nn.Module):
    def __init__(self, embed=8, hidden=8):
        super().__init__()
        self.embed = nn.Embedding(len(WORDS) + 1, embed, padding_idx=0)
        self.lstm = nn.LSTM(embed, hidden, bidirectional=True, batch_first=True)
        self.out = nn.Linear(2 * hidden, 4)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.embed(words), lengths, batch_first=True, enforce_sorted=False)
        states, (h, c) = self.lstm(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        return self.out(states)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(1)
    numbers = random.Random(2)
    data = [sentence(numbers) for _ in range(40)]
    loader = DataLoader(data, batch_size=8, shuffle=True, collate_fn=collate)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        for words, tags, lengths in loader:
            optimizer.zero_grad()
            scores = model(words, lengths)
            loss = criterion(scores.permute(0, 2, 1), tags)
            loss.backward()
            optimizer.step()
        right = (scores.argmax(-1) == tags)[tags.ne(-100)]
        print(f"epoch {epoch} loss {loss:.5f} right {right.sum().item()}/{right.numel()}")


if __name__ == "__main__":
    main()
