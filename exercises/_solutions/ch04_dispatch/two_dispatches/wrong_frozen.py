"""Fixes the table at the first call."""

FAILS = "test_later"
SAYS = "the table is open"


class Table:
    def __init__(self):
        self.kernels = {}
        self.frozen = None

    def register(self, op, device, kernel):
        self.kernels[op, device] = kernel

    def call(self, op, device, dtype, *args):
        if self.frozen is None:
            self.frozen = dict(self.kernels)
        if (op, device) not in self.frozen:
            raise RuntimeError(f"Could not run '{op}' on the '{device}' backend")
        kernel = self.frozen[op, device]
        if dtype not in kernel:
            raise RuntimeError(f"'{op}' not implemented for '{dtype}'")
        return kernel[dtype](*args)

    def devices(self, op):
        return sorted(device for name, device in self.kernels if name == op)
