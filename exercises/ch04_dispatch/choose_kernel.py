"""Which kernel serves a key? Its own, a composite one, a fallback, none.

An operator's kernels are a dict: keys such as "CPU" and "Autograd", and two aliases:

- "CompositeExplicit": one kernel for every backend (the keys in BACKENDS);
- "CompositeImplicit": calls other operators, so it serves backends and, unless the operator has a
  "CompositeExplicit" kernel or one for a backend, Autograd.

FALLTHROUGH in the place of a kernel says: skip this key.
"""

BACKENDS = ("CPU", "CUDA", "Meta")
FALLTHROUGH = "fallthrough"


def kernel_for(kernels, key, fallbacks):
    """Return what serves `key`: a kernel, FALLTHROUGH, or None if nothing does.

    kernels: the operator's. fallbacks: {key: kernel or FALLTHROUGH}, for all operators that have nothing
    else. In this order: the operator's own kernel, CompositeExplicit, CompositeImplicit, the fallback.
    """
    raise NotImplementedError


def choose(name, kernels, keys, fallbacks):
    """Return (key, kernel): the first key, from the highest down, that is not skipped.

    keys: a list, highest first. A key that nothing serves ends the search with RuntimeError
    "Could not run 'NAME' with the key 'KEY'", and so does a set in which all keys are skipped (KEY: the last).
    """
    raise NotImplementedError
