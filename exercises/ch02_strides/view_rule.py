"""When can view(new_sizes) succeed, and with which strides?

`view` never copies. It has to describe the same slots, in the same order, by other sizes. PyTorch decides
it from the last dimension to the first:

1. Group the old dimensions into *chunks*. Dimension d-1 joins the chunk of dimension d when its size is 1,
   or when

       stride[d-1] == (number of elements of the chunk so far) * (stride of the chunk's last dimension)

   A chunk behaves like one dimension, with the stride of its last dimension as its base stride.
2. Each chunk must be tiled exactly by a run of new dimensions. Inside a chunk the new strides are
   contiguous multiples of its base stride. New dimensions of size 1 are taken in wherever they stand.
3. If a new dimension would reach over two chunks, there is no view.

    arange(24).reshape(2, 3, 4).permute(0, 2, 1)     sizes (2, 4, 3), strides (12, 1, 4): three chunks
    view(2, 2, 2, 3)   strides (12, 2, 1, 4): the chunk of 4 is tiled by 2 and 2
    view(8, 3)         no: 8 would reach over the chunks of 2 and 4
"""


def compute_view_strides(sizes, strides, new_sizes):
    """Return the strides of the view as a tuple, or None when there is none.

    sizes, strides: of the tensor, tuples of ints, in elements. new_sizes: tuple of ints >= 0 with the same
    number of elements. Without elements: the same sizes keep their strides, other sizes get contiguous
    strides (a size of 0 counts as 1 there). A 0-dim tensor gives strides that are all 1.
    """
    raise NotImplementedError
