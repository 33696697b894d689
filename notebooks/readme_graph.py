"""Draws readme_graph.svg, the picture in the README: python -m notebooks.readme_graph."""

from pathlib import Path

import teachtorch as torch
import viz

PICTURE = Path(__file__).with_name("readme_graph.svg")


def picture():
    """The graph behind one small loss."""
    w = torch.tensor([0.5, -1.0], requires_grad=True)
    b = torch.tensor([0.1, 0.2], requires_grad=True)
    x = torch.tensor([1.0, 2.0])
    loss = (w * x + b).tanh().sum()
    return viz.graph(loss, names={"w": w, "b": b, "x": x, "loss": loss})


if __name__ == "__main__":
    picture().save(PICTURE)
