"""Skips a key that nothing serves, and returns None at the end."""

FAILS = "test_missing"
SAYS = "it is not skipped"


BACKENDS = ("CPU", "CUDA", "Meta")
FALLTHROUGH = "fallthrough"


def kernel_for(kernels, key, fallbacks):
    if key in kernels:
        return kernels[key]
    if key in BACKENDS and "CompositeExplicit" in kernels:
        return kernels["CompositeExplicit"]
    is_pure = not any(k in kernels for k in (*BACKENDS, "CompositeExplicit"))
    if "CompositeImplicit" in kernels and (key in BACKENDS or key == "Autograd" and is_pure):
        return kernels["CompositeImplicit"]
    return fallbacks.get(key)


def choose(name, kernels, keys, fallbacks):
    for key in keys:
        kernel = kernel_for(kernels, key, fallbacks)
        if kernel not in (None, FALLTHROUGH):
            return key, kernel
    return None
