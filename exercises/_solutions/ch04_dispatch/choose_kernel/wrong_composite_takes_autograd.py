"""Lets a composition serve Autograd whatever else there is."""

FAILS = "test_not_for_autograd"
SAYS = "must not take the call away"


BACKENDS = ("CPU", "CUDA", "Meta")
FALLTHROUGH = "fallthrough"


def kernel_for(kernels, key, fallbacks):
    if key in kernels:
        return kernels[key]
    if key in BACKENDS and "CompositeExplicit" in kernels:
        return kernels["CompositeExplicit"]
    if "CompositeImplicit" in kernels and (key in BACKENDS or key == "Autograd"):
        return kernels["CompositeImplicit"]
    return fallbacks.get(key)


def choose(name, kernels, keys, fallbacks):
    for key in keys:
        kernel = kernel_for(kernels, key, fallbacks)
        if kernel is None:
            break
        if kernel != FALLTHROUGH:
            return key, kernel
    raise RuntimeError(f"Could not run '{name}' with the key '{key}'")
