"""Two dispatches: first the device, then the dtype.

A call of an operator is decided in two steps, as in the PyTorch of 2019 and, inside the kernel, today:

- device and layout: a table that libraries fill when they are loaded, also long after the first call;
- dtype: a switch inside the kernel, over the dtypes that it was written for.

A kernel is a dict {dtype: function}. Names of operators, devices and dtypes are strings.
"""


class Table:
    """The kernels of all operators."""

    def __init__(self):
        # solution
        self.kernels = {}
        # end of solution

    def register(self, op, device, kernel):
        """Put a kernel, a dict {dtype: function}, under an operator and a device; a later one replaces it."""
        # solution
        self.kernels[op, device] = kernel
        # end of solution

    def call(self, op, device, dtype, *args):
        """Return what the function for this operator, device and dtype returns for `args`.

        RuntimeError "Could not run 'OP' on the 'DEVICE' backend" if the device has no kernel; only then, if the
        kernel has no function for the dtype, RuntimeError "'OP' not implemented for 'DTYPE'".
        """
        # solution
        if (op, device) not in self.kernels:
            raise RuntimeError(f"Could not run '{op}' on the '{device}' backend")
        kernel = self.kernels[op, device]
        if dtype not in kernel:
            raise RuntimeError(f"'{op}' not implemented for '{dtype}'")
        return kernel[dtype](*args)
        # end of solution

    def devices(self, op):
        """Return a sorted list of the devices that have a kernel for this operator now."""
        # solution
        return sorted(device for name, device in self.kernels if name == op)
        # end of solution
