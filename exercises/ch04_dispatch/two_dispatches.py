"""Two dispatches: first the device, then the dtype.

A call of an operator is decided in two steps, as in the PyTorch of 2019 and, inside the kernel, today:

- device and layout: a table that libraries fill when they are loaded, also long after the first call;
- dtype: a switch inside the kernel, over the dtypes that it was written for.

A kernel is a dict {dtype: function}. Names of operators, devices and dtypes are strings.
"""


class Table:
    """The kernels of all operators."""

    def __init__(self):
        raise NotImplementedError

    def register(self, op, device, kernel):
        """Put a kernel, a dict {dtype: function}, under an operator and a device; a later one replaces it."""
        raise NotImplementedError

    def call(self, op, device, dtype, *args):
        """Return what the function for this operator, device and dtype returns for `args`.

        RuntimeError "Could not run 'OP' on the 'DEVICE' backend" if the device has no kernel; only then, if the
        kernel has no function for the dtype, RuntimeError "'OP' not implemented for 'DTYPE'".
        """
        raise NotImplementedError

    def devices(self, op):
        """Return a sorted list of the devices that have a kernel for this operator now."""
        raise NotImplementedError
