"""Adding into places that may repeat: `out[index] += source`, every repeat counted."""
import numpy as np


def add_picked(out, picks, source):
    """`out[picks] += source` with repeats added each; `source` broadcasts to what `picks` picks."""
    np.add.at(out, picks, source)
