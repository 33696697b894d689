"""Which key is it? The set of a call, and its highest key.

    keys of the tensors  |  what the thread includes  -  what the thread excludes   ->   the highest key

ORDER lists the keys from the lowest to the highest priority. A key set is a Python set of these names.
"""

ORDER = ["CPU", "CUDA", "Meta", "BackendSelect", "Python", "ADInplaceOrView", "Autograd", "Autocast"]


def tensor_keys(device, requires_grad=False, made_in_inference_mode=False, has_torch_dispatch=False):
    """Return the set of keys that a tensor carries.

    device: "CPU", "CUDA" or "Meta". A tensor made in inference mode carries its device alone; any other one
    also ADInplaceOrView and Autograd, whether or not it requires grad: the Autograd kernel decides that itself.
    A tensor of a class with __torch_dispatch__ carries Python, too.
    """
    # solution
    keys = {device}
    if not made_in_inference_mode:
        keys |= {"ADInplaceOrView", "Autograd"}
    if has_torch_dispatch:
        keys.add("Python")
    return keys
    # end of solution


def call_keys(tensors, included=(), excluded=()):
    """Return the key set of a call: `tensors` is a list of key sets, `included` and `excluded` are the thread's."""
    # solution
    return set().union(*tensors, included) - set(excluded)
    # end of solution


def highest(keys):
    """Return the key of the highest priority. ValueError for an empty set."""
    # solution
    return max(keys, key=ORDER.index)
    # end of solution


def below(keys, key):
    """Return the set of those keys that stand below `key`: what a kernel redispatches with."""
    # solution
    return {k for k in keys if ORDER.index(k) < ORDER.index(key)}
    # end of solution
