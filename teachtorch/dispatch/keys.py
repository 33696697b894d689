"""Dispatch keys, as bits of an int, lowest priority first; a key set is the union of its keys' bits.

PyTorch's order (c10/core/DispatchKey.h), as far as teachtorch has the mechanisms. An ordinary CPU tensor carries
{CPU, ADInplaceOrView, Autograd}, whether or not it requires grad: Autograd decides *inside* its kernel. ForwardAD is
ours: it is included while a dual level is open, so that the Autograd kernels need not ask the thread for it.
"""
from .. import tensor

NAMES = ("CPU", "Sim", "CUDA", "Meta", "SparseCPU", "BackendSelect", "Python", "ADInplaceOrView", "Autograd",
         "ForwardAD", "Tracer", "AutocastCPU", "FuncTorch", "PythonFunction")

CPU, SIM, CUDA, META, SPARSE_CPU, BACKEND_SELECT, PYTHON, AD_INPLACE_OR_VIEW, AUTOGRAD, FORWARD_AD, TRACER, \
    AUTOCAST_CPU, FUNCTORCH, PYTHON_FUNCTION = (1 << i for i in range(len(NAMES)))

BACKENDS = CPU | SIM | CUDA | META
BACKENDS_OF_ANY_LAYOUT = BACKENDS | SPARSE_CPU
BELOW_AUTOGRAD = AUTOGRAD - 1
BELOW_AD_INPLACE_OR_VIEW = AD_INPLACE_OR_VIEW - 1

OF_NAME = {name: 1 << i for i, name in enumerate(NAMES)}
OF_DEVICE = {"cpu": CPU, "sim": SIM, "cuda": CUDA, "meta": META}
OF_DEVICE_AND_LAYOUT = {**OF_DEVICE, "sparse_cpu": SPARSE_CPU}

for _type, _key in OF_DEVICE_AND_LAYOUT.items():
    setattr(tensor.NewKeys, _type, _key | AD_INPLACE_OR_VIEW | AUTOGRAD)
    tensor.inference_keys[_type] = _key


def descending(key_set):
    """The keys of a set, highest priority first."""
    while key_set:
        key = 1 << (key_set.bit_length() - 1)
        yield key
        key_set ^= key


def name_of(key):
    return NAMES[key.bit_length() - 1]


def names_in(key_set):
    """The names of a set's keys, highest priority first: ("Autograd", "ADInplaceOrView", "CPU")."""
    return tuple([name_of(key) for key in descending(key_set)])


def keys_of(t):
    """The key set that a tensor carries."""
    return t._keys


def describe(key_set):
    """A key set in words, lowest first: "CPU, ADInplaceOrView, Autograd"."""
    return ", ".join(reversed([name_of(key) for key in descending(key_set)]))
