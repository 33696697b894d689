"""Asks for the dtype before the device."""

FAILS = "test_order"
SAYS = "lies inside a kernel"


class Table:
    def __init__(self):
        self.kernels = {}

    def register(self, op, device, kernel):
        self.kernels[op, device] = kernel

    def call(self, op, device, dtype, *args):
        if not any(dtype in kernel for (name, _), kernel in self.kernels.items() if name == op):
            raise RuntimeError(f"'{op}' not implemented for '{dtype}'")
        if (op, device) not in self.kernels:
            raise RuntimeError(f"Could not run '{op}' on the '{device}' backend")
        kernel = self.kernels[op, device]
        if dtype not in kernel:
            raise RuntimeError(f"'{op}' not implemented for '{dtype}'")
        return kernel[dtype](*args)

    def devices(self, op):
        return sorted(device for name, device in self.kernels if name == op)
