"""Small models, written once for both libraries: `T` is teachtorch or torch.

Each function trains for some steps and returns the losses. Weights come from NumPy, so that both begin with the same;
batches, noise and dropout come from the library's generator.
"""
import numpy as np

from teachtorch.datasets import load_digits

TEXT = "the cat sat on the mat and the dog ate the cake that the cat had hidden under the mat in the hall. " * 8


def give_weights(model, T, scale=0.2):
    """Fill all parameters with the same numbers in either library: normal, weights scaled by their inputs."""
    numbers = np.random.default_rng(0)
    with T.no_grad():
        for parameter in model.parameters():
            shape = tuple(parameter.shape)
            spread = scale if len(shape) < 2 else 1 / np.sqrt(np.prod(shape[1:]))
            values = (spread * numbers.standard_normal(shape)).astype(np.float32)
            parameter.copy_(T.from_numpy(values) + (1.0 if is_gain(model, parameter) else 0.0))
    return model


def is_gain(model, parameter):
    """Whether a parameter is the weight of a normalisation, which begins near 1."""
    return any(
        parameter is getattr(module, "weight", None) for module in model.modules() if "Norm" in str(type(module))
    )


def digit_pictures(T, count):
    images, labels = load_digits()
    return T.from_numpy(images[:count]).reshape(count, 1, 8, 8), T.from_numpy(labels[:count])


def letters(T):
    """TEXT as numbers, and how many letters there are."""
    table = sorted(set(TEXT))
    return T.tensor([table.index(letter) for letter in TEXT]), len(table)


def windows(T, data, length, count):
    """Random pieces of the text, and the same one letter further."""
    starts = T.randint(0, len(data) - length - 1, (count,)).tolist()
    return (T.stack([data[i:i + length] for i in starts]), T.stack([data[i + 1:i + length + 1] for i in starts]))


def descend(loss, optimizer):
    """One step; the loss as a number."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# ---- the models ---------------------------------------------------------------------------------------------------

def cnn(T, steps):
    """Convolutions, batch norm, pooling, dropout; SGD with momentum on digits."""
    nn, F = T.nn, T.nn.functional
    model = give_weights(nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 12, 3), nn.ReLU(),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(48, 10)), T)
    optimizer = T.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
    loader = T.utils.data.DataLoader(T.utils.data.TensorDataset(*digit_pictures(T, 640)), batch_size=32, shuffle=True)
    return [descend(F.cross_entropy(model(x), y), optimizer) for _, (x, y) in zip(range(steps), loader)]


def characters(T, steps):
    """An embedding and a GRU that predicts the next letter, with truncated backpropagation and clipping."""
    nn, F = T.nn, T.nn.functional
    data, count = letters(T)
    model = give_weights(nn.ModuleDict({"embed": nn.Embedding(count, 12), "gru": nn.GRU(12, 24, batch_first=True),
                                        "out": nn.Linear(24, count)}), T)
    optimizer = T.optim.RMSprop(model.parameters(), lr=3e-3)
    rows, hidden, losses = data[:8 * 80].reshape(8, 80), None, []
    for step in range(steps):
        piece = rows[:, step * 3:step * 3 + 13]
        output, hidden = model["gru"](model["embed"](piece[:, :-1]), hidden)
        loss = F.cross_entropy(model["out"](output).reshape(-1, count), piece[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        hidden = hidden.detach()
        losses.append(loss.item())
    return losses


def lstm(T, steps):
    """A two-layer bidirectional LSTM with dropout that tells which of two waves comes first."""
    nn, F = T.nn, T.nn.functional
    model = give_weights(nn.ModuleList([nn.LSTM(1, 10, num_layers=2, dropout=0.2, bidirectional=True),
                                        nn.Linear(20, 1)]), T)
    optimizer = T.optim.Adam(model.parameters(), lr=0.01, amsgrad=True)
    time, losses = T.arange(20.0).reshape(20, 1, 1), []
    for _ in range(steps):
        phase = T.rand(1, 16, 1) * 6
        which = T.randint(0, 2, (1, 16, 1)).float()
        waves = T.sin(time * (0.3 + 0.3 * which) + phase)
        _, (hidden, _) = model[0](waves)
        scores = model[1](T.cat([hidden[-2], hidden[-1]], 1)).squeeze(1)
        losses.append(descend(F.binary_cross_entropy_with_logits(scores, which.reshape(-1)), optimizer))
    return losses


def gpt(T, steps):
    """A decoder-only transformer with causal attention, learned positions and tied embeddings; AdamW, warm-up."""
    nn, F = T.nn, T.nn.functional

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            batch, length, width = x.shape
            q, k, v = [part.view(batch, length, self.heads, -1).transpose(1, 2)
                       for part in self.qkv(self.norm1(x)).chunk(3, dim=-1)]
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.project(seen.transpose(1, 2).reshape(batch, length, width))
            return x + self.mlp(self.norm2(x))

    data, count = letters(T)
    model = nn.ModuleDict({"tokens": nn.Embedding(count, 24), "places": nn.Embedding(16, 24),
                           "blocks": nn.Sequential(Block(24, 3), Block(24, 3)), "norm": nn.LayerNorm(24),
                           "out": nn.Linear(24, count, bias=False)})
    model["out"].weight = model["tokens"].weight
    give_weights(model, T)
    optimizer = T.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)
    schedule = T.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 5))
    losses = []
    for _ in range(steps):
        x, y = windows(T, data, 16, 8)
        hidden = model["blocks"](model["tokens"](x) + model["places"](T.arange(16)))
        loss = F.cross_entropy(model["out"](model["norm"](hidden)).flatten(0, 1), y.flatten())
        losses.append(descend(loss, optimizer))
        schedule.step()
    return losses


def vae(T, steps):
    """Encoder, reparameterised noise, decoder, and the divergence from the prior, on digits."""
    nn, F = T.nn, T.nn.functional
    model = give_weights(nn.ModuleDict({
        "encoder": nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 8)),
        "decoder": nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 64), nn.Sigmoid())}), T)
    optimizer = T.optim.Adam(model.parameters(), lr=3e-3)
    pictures, losses = digit_pictures(T, 32 * steps)[0], []
    for batch in pictures.split(32):
        mean, log_variance = model["encoder"](batch).chunk(2, dim=1)
        code = mean + T.randn_like(mean) * (log_variance / 2).exp()
        likelihood = F.binary_cross_entropy(model["decoder"](code), batch.flatten(1), reduction="sum")
        divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum()
        losses.append(descend((likelihood + divergence) / len(batch), optimizer))
    return losses


def gan(T, steps):
    """Two networks against each other over points on a ring; both losses."""
    nn, F = T.nn, T.nn.functional
    maker = give_weights(nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2)), T)
    judge = give_weights(nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)), T)
    optimizers = [T.optim.Adam(net.parameters(), lr=5e-3, betas=(0.5, 0.999)) for net in (maker, judge)]
    yes, no, losses = T.ones(32, 1), T.zeros(32, 1), []
    for _ in range(steps):
        angle = T.rand(32, 1) * 6.2832
        real, made = T.cat([angle.cos(), angle.sin()], 1), maker(T.randn(32, 4))
        told = F.binary_cross_entropy_with_logits
        losses.append(descend(told(judge(real), yes) + told(judge(made.detach()), no), optimizers[1]))
        losses.append(descend(told(judge(made), yes), optimizers[0]))
    return losses


MODELS = {function.__name__: function for function in (cnn, characters, lstm, gpt, vae, gan)}
