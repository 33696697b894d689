"""The containers in a node's arguments, under the name that PyTorch has for their module."""
from .node import immutable_dict, immutable_list

__all__ = ["immutable_dict", "immutable_list"]
