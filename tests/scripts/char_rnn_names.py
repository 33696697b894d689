"""Which language is a name from? A recurrent network written out by hand, updated by hand."""
import argparse
import random
import string
import unicodedata

import torch
import torch.nn as nn

NAMES = {
    "Italian": "Rossi Bianchi Romano Colombo Ricci Marino Greco Bruno Gallo Conti Costa Giordano Rizzo Lombardi",
    "Polish": "Nowak Kowalski Wiśniewski Wójcik Kowalczyk Kamiński Lewandowski Zieliński Szymański Dąbrowski",
    "Japanese": "Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida Yamada",
}
all_letters = string.ascii_letters + " .,;'"
n_letters = len(all_letters)


def unicode_to_ascii(s):
    return "".join(c for c in unicodedata.normalize("NFD", s) if unicodedata.category(c) != "Mn" and c in all_letters)


category_lines = {category: [unicode_to_ascii(n) for n in names.split()] for category, names in NAMES.items()}
all_categories = list(category_lines)


def letter_to_index(letter):
    return all_letters.find(letter)


def line_to_tensor(line):
    tensor = torch.zeros(len(line), 1, n_letters)
    for li, letter in enumerate(line):
        tensor[li][0][letter_to_index(letter)] = 1
    return tensor


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        hidden = torch.tanh(self.i2h(input) + self.h2h(hidden))
        output = self.softmax(self.h2o(hidden))
        return output, hidden

    def init_hidden(self):
        return torch.zeros(1, self.hidden_size)


def category_from_output(output):
    top_n, top_i = output.topk(1)
    category_i = top_i[0].item()
    return all_categories[category_i], category_i


def random_training_example():
    category = random.choice(all_categories)
    line = random.choice(category_lines[category])
    category_tensor = torch.tensor([all_categories.index(category)], dtype=torch.long)
    return category, line, category_tensor, line_to_tensor(line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=40)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    rnn = RNN(n_letters, 32, len(all_categories))
    criterion = nn.NLLLoss()
    current_loss = 0
    for iter in range(1, args.iters + 1):
        category, line, category_tensor, line_tensor = random_training_example()
        hidden = rnn.init_hidden()
        rnn.zero_grad()
        for i in range(line_tensor.size()[0]):
            output, hidden = rnn(line_tensor[i], hidden)
        loss = criterion(output, category_tensor)
        loss.backward()
        for p in rnn.parameters():
            p.data.add_(p.grad.data, alpha=-args.lr)
        current_loss += loss.item()
        if iter % 10 == 0:
            guess, guess_i = category_from_output(output)
            print("%d %.6f %s / %s %s" % (iter, current_loss / 10, line, guess, "ok" if guess == category else "no"))
            current_loss = 0


if __name__ == "__main__":
    main()
