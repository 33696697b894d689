"""gather and its backward, scatter_add.

gather picks elements along one dimension. For dim 1 of a matrix:

    out[i][j] = input[i][index[i][j]]

The result has the shape of `index`. The gradient goes the same way back: every element of the result adds
its gradient to the element it was picked from. An element that was picked twice gets two gradients.

    grad_input[i][index[i][j]] += grad_out[i][j]
"""

import numpy as np


def gather(input, dim, index):
    """Return the gathered elements, an array of index.shape and input.dtype.

    input: NumPy array. dim: int >= 0. index: int64 array with as many dimensions. Nothing is broadcast: in
    every dimension but `dim`, index may be smaller than input (then the rest of input is not used) but not
    larger. Along `dim` it may have any size. Raises RuntimeError when the dimensions do not fit, and
    IndexError when an entry is not in [0, input.shape[dim]): negative ones are not allowed.
    """
    # solution
    fits = index.ndim == input.ndim and all(
        index.shape[d] <= input.shape[d] for d in range(input.ndim) if d != dim
    )
    if not fits:
        raise RuntimeError(f"gather: index of shape {index.shape} does not fit input of shape {input.shape}")
    if index.size and not (0 <= index.min() and index.max() < input.shape[dim]):
        raise IndexError(f"gather: index out of bounds for dimension {dim} of size {input.shape[dim]}")
    return input[_places(dim, index)]
    # end of solution


def gather_backward(grad, input_shape, dim, index):
    """Return the gradient of gather's input, an array of input_shape and grad.dtype.

    grad: the gradient of gather's result, of index.shape. dim, index: as in gather.
    """
    # solution
    result = np.zeros(input_shape, grad.dtype)
    np.add.at(result, _places(dim, index), grad)
    return result
    # end of solution


# solution
def _places(dim, index):
    places = list(np.indices(index.shape))
    places[dim] = index
    return tuple(places)


# end of solution
