"""Which shape has x[key]?

Each entry of a key takes one dimension of the tensor, from the left:

    ":"          a slice: the dimension stays
    2            an integer: the dimension goes
    None         takes no dimension, and makes a new one of size 1
    (3, 1)       an index tensor of this shape: the dimension goes

Dimensions that no entry takes stay. All index tensors together make *one* block of dimensions: the shape to
which they broadcast. It stands

- where the first of them stood, if they stand side by side in what is left when the integers are gone;
- in front of everything else, if a slice or None separates them.

    sizes (2, 3, 4, 5)    x[:, a, b]      (2, *block, 5)
                          x[:, a, :, b]   (*block, 2, 4)
                          x[:, a, 0, b]   (2, *block)          the integer separates nothing
"""


def broadcast(shapes):
    """Given: the shape to which a list of shapes broadcasts. Raises IndexError when they do not fit."""
    result = [1] * max(map(len, shapes))
    for shape in shapes:
        for back in range(1, len(shape) + 1):
            if shape[-back] != 1 and result[-back] not in (1, shape[-back]):
                raise IndexError(f"shape mismatch: index tensors do not broadcast together: {shapes}")
            result[-back] = shape[-back] if result[-back] == 1 else result[-back]
    return tuple(result)


def result_shape(sizes, key):
    """Return the shape of x[key], a tuple of ints.

    sizes: the shape of x, a tuple of ints. key: a list of entries as above. Raises IndexError when the key
    takes more dimensions than there are, for an integer outside its dimension (negative ones count from the
    end), and when the index tensors do not broadcast.
    """
    raise NotImplementedError
