"""`Operator`: one row of the dispatch table. Calling it finds the highest key's kernel and runs that.

    keys of the tensor arguments | included by the thread − excluded by it  →  highest key with a kernel  →  kernel

A kernel is `kernel(keys, *args)` with every argument in its declared place; it may go on below its own key with
`op.redispatch(keys & BELOW_..., *args)`. Choices are remembered per key set, so that a call costs one dict look-up.
"""
from ..core import observer
from ..tensor import Tensor
from . import keys as K
from .overriding import keys_of_other
from .state import state

# Alias keys: a kernel under one of these serves many keys (aten/src/ATen/core/dispatch/OperatorEntry.cpp).
COMPOSITE_IMPLICIT = "CompositeImplicit"     # built from operators that have derivatives: serves autograd too
AUTOGRAD_ALIAS = "Autograd"                  # every backend's autograd key, where it has no kernel of its own
COMPOSITE_EXPLICIT = "CompositeExplicit"     # the same kernel for every backend, of strided tensors

_SEQUENCES = (list, tuple)

registry = {}                                # name -> Operator
fallbacks = {}                               # key -> kernel for all operators that have none of their own
makers = {}                                  # key -> function(operator) that makes its kernel from the others, or None
refusals = {}  # key -> function(operator) that makes a kernel which says that there is none


def fallthrough(keys, *args):
    """A mark, not a kernel: "skip this key". It is never called."""
    raise AssertionError("a fallthrough kernel was called")


class Deferred:
    """A kernel whose code is generated when it is first chosen: most operators are never called in a process."""

    def __init__(self, build):
        self.build = build


class Operator:
    """A named operator and its kernels.

    `kernels` maps a key (an int of dispatch/keys.py) or an alias to a kernel. `info` is what ops/declare.py knows
    of the operator (signature, derivatives, fake rule); the dispatcher does not look at it.
    """

    def __init__(self, name, info=None):
        if name in registry:
            raise ValueError(f"operator {name!r} is declared twice")
        self.name = name
        self.info = info
        self.published = None
        self.kernels = {}
        self.make_call = lambda: self.__call__
        self._call = None
        self._chosen = {}
        registry[name] = self

    def __repr__(self):
        return f"<Operator {self.name}>"

    @property
    def call(self):
        """The same as calling the operator; ops/declare.py writes it out for the signature when first asked for."""
        if self._call is None:
            self._call = self.make_call()
        return self._call

    @property
    def public(self):
        """The function that users call: the one published under the operator's name, if one was."""
        info = self.info
        made = info.public_inplace if self.name == info.name + "_" and info.public_inplace else info.public
        return self.published or made

    def register(self, key, kernel):
        """Put a kernel (or a Deferred one) under a key or an alias; a later one replaces an earlier one."""
        self.kernels[key] = kernel
        self._chosen.clear()
        return kernel

    def __call__(self, *args):
        keys = 0
        for a in args:
            if isinstance(a, Tensor):
                keys |= a._keys
            elif a.__class__ in _SEQUENCES:
                for b in a:
                    keys |= b._keys if isinstance(b, Tensor) else keys_of_other(b)
            else:
                keys |= keys_of_other(a)
        keys = (keys | state.included) & ~state.excluded
        if observer.active:
            return self._observed(keys, args)
        return (self._chosen.get(keys) or self.choose(keys))(keys, *args)

    def redispatch(self, keys, *args):
        """Go on with the highest kernel of `keys`; called by kernels to reach the ones below them."""
        if observer.sees_kernels:
            return self._observed_kernel(keys, args)
        return (self._chosen.get(keys) or self.choose(keys))(keys, *args)

    def choose(self, keys):
        """The kernel for a key set, remembered. NotImplementedError if no key of it has one."""
        kernel = self._find(keys)[1]
        self._chosen[keys] = kernel
        return kernel

    def _find(self, keys):
        for key in K.descending(keys):
            kernel = self.kernel_for(key, keys)
            if kernel is not fallthrough:
                return key, kernel
        if not keys & K.BACKENDS_OF_ANY_LAYOUT:
            raise TypeError(f"{self.name}(): expected at least one Tensor among the arguments")
        raise NotImplementedError(
            f"Could not run '{self.name}' with arguments from the "
            f"'{K.name_of(keys & K.BACKENDS)}' backend. It has kernels for: {self.describe_kernels()}."
        )

    def kernel_for(self, key, keys=0):
        """The kernel that serves one key; `fallthrough` if the key is to be skipped."""
        return self.service(key, keys)[1]

    def service(self, key, keys=0):
        """(how, kernel): what serves one key of a call's key set, by PyTorch's precedence.

        `how` is "own", an alias, "made" (from the declaration, by a maker), "fallback", "missing" (a refusal: the call
        may not go on to a lower key) or "fallthrough".
        """
        if key in self.kernels:
            return "own", self.own_kernel(key)
        is_backend = key & K.BACKENDS
        takes_any_layout = "::" in self.name          # of a user's; our own shared kernels compute strides
        if (is_backend or key == K.SPARSE_CPU and takes_any_layout) and COMPOSITE_EXPLICIT in self.kernels:
            return COMPOSITE_EXPLICIT, self.kernels[COMPOSITE_EXPLICIT]
        if COMPOSITE_IMPLICIT in self.kernels and (is_backend or key == K.SPARSE_CPU or key == K.AUTOGRAD
                                                   and not self.has_backend_kernel(keys)):
            return COMPOSITE_IMPLICIT, self.kernels[COMPOSITE_IMPLICIT]
        if key == K.AUTOGRAD and AUTOGRAD_ALIAS in self.kernels:
            return "own", self.kernels[AUTOGRAD_ALIAS]
        made = makers[key](self) if key in makers else None
        if made is not None:
            return ("fallback" if getattr(makers[key], "is_fallback", False) else "made"), made
        if key in fallbacks:
            return "fallback", fallbacks[key]
        return ("missing", refusals[key](self)) if key in refusals else ("fallthrough", fallthrough)

    def has_backend_kernel(self, keys):
        """Whether a backend of the key set computes the operator itself: then autograd must not take it apart."""
        return COMPOSITE_EXPLICIT in self.kernels or any(isinstance(key, int) and key & keys & K.BACKENDS
                                                         for key in self.kernels)

    def own_kernel(self, key):
        """The kernel registered for this very key."""
        kernel = self.kernels[key]
        if isinstance(kernel, Deferred):
            kernel = self.kernels[key] = kernel.build()
        return kernel

    def describe_kernels(self):
        return ", ".join(key if isinstance(key, str) else K.name_of(key) for key in self.kernels)

    def _observed(self, keys, args):
        """Run a call from its highest key, and tell the observer before and after."""
        if state.is_device_thread:
            return self._find(keys)[1](keys, *args)
        observer.report("call", phase="start", op=self.name, args=args)
        found = None
        try:
            if observer.sees_kernels:
                found = self._observed_kernel(keys, args)
            else:
                found = (self._chosen.get(keys) or self.choose(keys))(keys, *args)
            return found
        finally:
            if observer.active:
                observer.report("call", phase="end", op=self.name, args=args, result=found)

    def _observed_kernel(self, keys, args):
        """Run the highest kernel of `keys`, and tell the observer before and after."""
        key, kernel = self._find(keys)
        if state.is_device_thread:
            return kernel(keys, *args)
        observer.report("dispatch", op=self.name, key=K.name_of(key), keys=keys, depth=state.depth, args=args)
        state.depth += 1
        found = None
        try:
            found = kernel(keys, *args)
            return found
        finally:
            state.depth -= 1
            if observer.active:
                observer.report("returned", op=self.name, result=found)
