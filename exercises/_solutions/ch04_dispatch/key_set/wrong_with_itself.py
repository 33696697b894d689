"""Redispatches with its own key."""

FAILS = "test_below"
SAYS = "neither itself"


ORDER = ["CPU", "CUDA", "Meta", "BackendSelect", "Python", "ADInplaceOrView", "Autograd", "Autocast"]


def tensor_keys(device, requires_grad=False, made_in_inference_mode=False, has_torch_dispatch=False):
    keys = {device}
    if not made_in_inference_mode:
        keys |= {"ADInplaceOrView", "Autograd"}
    if has_torch_dispatch:
        keys.add("Python")
    return keys


def call_keys(tensors, included=(), excluded=()):
    return set().union(*tensors, included) - set(excluded)


def highest(keys):
    return max(keys, key=ORDER.index)


def below(keys, key):
    return {k for k in keys if ORDER.index(k) <= ORDER.index(key)}
