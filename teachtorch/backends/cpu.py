"""torch.backends.cpu."""


def get_cpu_capability():
    """"DEFAULT": the vector instructions are left to Numba and NumPy, which choose on their own."""
    return "DEFAULT"
