"""Parameters as one vector and back (torch.nn.utils.parameters_to_vector)."""
from ...ops.declare import exports
from ...tensor import Tensor

cat = exports[""]["cat"]


def parameters_to_vector(parameters):
    """All elements of the parameters, one after another: a 1-D tensor through which gradients flow."""
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec, parameters):
    """Make the parameters views of consecutive parts of the 1-D tensor `vec`. TypeError unless it is a tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end
