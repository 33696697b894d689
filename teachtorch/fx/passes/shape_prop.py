"""`ShapeProp`: runs a graph on example inputs and notes the shape and dtype of every value in `node.meta`."""
from typing import NamedTuple

from ...core.dtype import dtype as dtype_class
from ...core.layout import channels_last, channels_last_3d, contiguous_format
from ...tensor import Size, Tensor
from ..interpreter import Interpreter
from ..node import map_aggregate


class TensorMetadata(NamedTuple):
    """What is known of a value without its numbers; strides in elements. `memory_format`: None if it is none
    of them."""

    shape: Size
    dtype: dtype_class
    requires_grad: bool
    stride: tuple
    memory_format: object
    is_quantized: bool
    qparams: dict


def extract_tensor_metadata(t):
    """The TensorMetadata of a tensor."""
    return TensorMetadata(t.shape, t.dtype, t.requires_grad, t.stride(), memory_format_of(t), False, {})


def memory_format_of(t):
    """The first memory format in which the tensor lies without gaps; None if there is none."""
    formats = {4: (contiguous_format, channels_last), 5: (contiguous_format, channels_last_3d)}
    for layout in formats.get(t.dim(), (contiguous_format,)):
        if t.is_contiguous(memory_format=layout):
            return layout
    return None


class ShapeProp(Interpreter):
    """`ShapeProp(graph_module).propagate(*inputs)` runs the module and fills `node.meta`.

    "tensor_meta": the node's TensorMetadata, nested as its value is; absent if there is no tensor in it.
    "type": the class of the value. A graph that was traced once holds for other shapes too; what is noted
    holds for these inputs. torch.fx.passes.shape_prop.ShapeProp.
    """

    def run_node(self, n):
        try:
            result = super().run_node(n)
        except Exception as error:
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}: {error}") \
                from error
        note(n, result)
        return result

    def propagate(self, *args):
        """Run the graph on these inputs; returns its output."""
        return self.run(*args)


def note(node, result):
    """Fill one node's meta."""
    found = []

    def metadata(value):
        if not isinstance(value, Tensor):
            return value
        found.append(value)
        return extract_tensor_metadata(value)
    meta = map_aggregate(result, metadata)
    if found:
        node.meta["tensor_meta"] = meta
    node.meta["type"] = type(result)
