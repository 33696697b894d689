"""The main job: a small network learns real handwritten digits in seconds."""
import teachtorch as torch
from teachtorch import nn
from teachtorch.datasets import split_digits
from teachtorch.utils.data import DataLoader, TensorDataset


def as_dataset(images, labels):
    return TensorDataset(torch.from_numpy(images).flatten(1), torch.from_numpy(labels))


def train(model, loader, epochs):
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            loss_of(model(images), labels).backward()
            optimizer.step()


@torch.no_grad()
def accuracy(model, dataset):
    images, labels = dataset.tensors
    return (model(images).argmax(1) == labels).float().mean().item()


def test_a_classic_training_loop_reaches_95_percent_on_unseen_digits():
    torch.manual_seed(0)
    training, unseen = (as_dataset(*part) for part in split_digits())
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    before = accuracy(model, unseen)
    train(model, DataLoader(training, batch_size=32, shuffle=True), epochs=20)
    assert before < 0.5
    assert accuracy(model, unseen) >= 0.95
