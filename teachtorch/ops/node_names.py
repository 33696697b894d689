"""The names of backward nodes where they do not follow from their operators' names."""
from ..dispatch.operator import registry


def name_node(operator_name, node_name):
    """Give an operator's backward node the name that PyTorch gives it."""
    registry[operator_name].info.derivatives.node_class.__name__ = node_name


def capital_dimensions(operator_name):
    """Let a node of spatial windows say MaxPool2DBackward0 where its operator says max_pool2d."""
    node = registry[operator_name].info.derivatives.node_class
    node.__name__ = node.__name__.replace("1d", "1D").replace("2d", "2D").replace("3d", "3D")
