"""Takes the mark for a kernel."""

FAILS = "test_fallthrough"
SAYS = "skip this key"


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
        if kernel is None:
            break
        return key, kernel
    raise RuntimeError(f"Could not run '{name}' with the key '{key}'")
