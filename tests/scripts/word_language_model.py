"""Words of a made-up language, predicted by an LSTM or a Transformer."""
import argparse
import math
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Dictionary(object):
    def __init__(self):
        self.word2idx = {}
        self.idx2word = []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]

    def __len__(self):
        return len(self.idx2word)


class Corpus(object):
    def __init__(self):
        self.dictionary = Dictionary()
        numbers = random.Random(3)
        self.train, self.valid = self.tokenize(numbers, 60), self.tokenize(numbers, 20)

    def tokenize(self, numbers, sentences):
        idss = []
        for _ in range(sentences):
            subject, verb, thing = (numbers.choice(w) for w in ("cat dog bird".split(), "sees eats likes".split(),
                                                                "fish bread rain".split()))
            words = ["the", subject, verb, "the", thing, "<eos>"]
            idss.append(torch.tensor([self.dictionary.add_word(w) for w in words]).type(torch.int64))
        return torch.cat(idss)


class RNNModel(nn.Module):
    def __init__(self, rnn_type, ntoken, ninp, nhid, nlayers, dropout=0.5, tie_weights=False):
        super().__init__()
        self.ntoken = ntoken
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = getattr(nn, rnn_type)(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        if tie_weights:
            self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        self.rnn_type, self.nhid, self.nlayers = rnn_type, nhid, nlayers

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        decoded = self.decoder(self.drop(output)).view(-1, self.ntoken)
        return F.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        if self.rnn_type == "LSTM":
            return (weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid))
        return weight.new_zeros(self.nlayers, bsz, self.nhid)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=500):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))

    def forward(self, x):
        return self.dropout(x + self.pe[:x.size(0), :])


class TransformerModel(nn.Transformer):
    def __init__(self, ntoken, ninp, nhead, nhid, nlayers, dropout=0.5):
        super().__init__(d_model=ninp, nhead=nhead, dim_feedforward=nhid, num_encoder_layers=nlayers)
        self.src_mask = None
        self.pos_encoder = PositionalEncoding(ninp, dropout)
        self.input_emb = nn.Embedding(ntoken, ninp)
        self.ninp = ninp
        self.decoder = nn.Linear(ninp, ntoken)
        nn.init.uniform_(self.input_emb.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, src):
        if self.src_mask is None or self.src_mask.size(0) != len(src):
            self.src_mask = torch.log(torch.tril(torch.ones(len(src), len(src))))
        src = self.pos_encoder(self.input_emb(src) * math.sqrt(self.ninp))
        output = self.decoder(self.encoder(src, mask=self.src_mask))
        return F.log_softmax(output, dim=-1)


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    data = data.narrow(0, 0, nbatch * bsz)
    return data.view(bsz, -1).t().contiguous()


def repackage_hidden(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].view(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="LSTM", help="LSTM, GRU, RNN or Transformer")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--lr", type=float, default=2)
    parser.add_argument("--clip", type=float, default=0.25)
    parser.add_argument("--tied", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(1111)
    corpus = Corpus()
    ntokens = len(corpus.dictionary)
    train_data, val_data = batchify(corpus.train, 6), batchify(corpus.valid, 4)
    if args.model == "Transformer":
        model = TransformerModel(ntokens, 16, 2, 24, 2, 0.1)
    else:
        model = RNNModel(args.model, ntokens, 16, 16, 2, 0.2, args.tied)
    criterion = nn.NLLLoss()
    for epoch in range(1, args.epochs + 1):
        start_time = time.time()
        model.train()
        hidden = None if args.model == "Transformer" else model.init_hidden(6)
        for i in range(0, train_data.size(0) - 1, 10):
            data, targets = get_batch(train_data, i, 10)
            model.zero_grad()
            if hidden is None:
                output = model(data).view(-1, ntokens)
            else:
                hidden = repackage_hidden(hidden)
                output, hidden = model(data, hidden)
            loss = criterion(output, targets)
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            for p in model.parameters():
                if p.grad is not None:
                    p.data.add_(p.grad, alpha=-args.lr)
            print(f"batch {i // 10} loss {loss.item():.5f} norm {norm:.4f}")
        assert time.time() >= start_time
        model.eval()
        with torch.no_grad():
            data, targets = get_batch(val_data, 0, 20)
            output = model(data) if hidden is None else model(data, model.init_hidden(4))[0]
            loss = criterion(output.view(-1, ntokens), targets).item()
            print(f"valid loss {loss:.5f} ppl {math.exp(loss):.4f}")


if __name__ == "__main__":
    main()
