"""An operator that a user defines: a row of the dispatch table like our own, whose kernels come from the
user.

    autograd       a Function made of the user's backward       → below autograd
    ADInplaceOrView  bumps the versions of what is changed       → below that
    backend        the user's kernel; on meta, the fake rule
"""
from ..autograd import Function
from ..autograd.meta import tracks
from ..autograd.tensor_fields import bump_version
from ..core import observer
from ..core.device import CPU, as_device
from ..core.layout import sparse_coo
from ..dispatch import keys as K
from ..dispatch.nested import tensors_in
from ..dispatch.operator import AUTOGRAD_ALIAS, COMPOSITE_EXPLICIT, COMPOSITE_IMPLICIT, Operator, fallthrough
from ..dispatch.overriding import keys_of_other
from ..dispatch.state import excluding, state
from ..tensor import Tensor, storage_of
from .binding import bound
from .list_arguments import Structure
from .results import as_declared
from .schema import NO_DEFAULT

ALIASES = (
    "{} (with implementation in {}): The output of this custom operator (1) must not also be an input to "
    "this custom operator and (2) may not alias any inputs to this custom operator or other returns. The "
    "most common way to trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. "
    "Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the "
    "custom operator to not return y.")


class Definition:
    """What `teachtorch.ops` shows of a user's operator: the attributes of ops.declare.Declaration."""

    kind, derivatives, has_inplace, has_out, jvp = "custom", None, False, False, None

    def __init__(self, schema):
        self.name = schema.name
        self.schema = schema
        self.signature = SchemaSignature(schema)
        self.function = self.public = self.public_inplace = None
        self.fake = None
        self.outputs = schema.returns
        self.vjp = []


class SchemaSignature:
    """A Schema in the form of ops.signature.Signature."""

    rest = None

    def __init__(self, schema):
        positional = [a for a in schema.arguments if not a.is_keyword_only]
        keyword_only = [a for a in schema.arguments if a.is_keyword_only]
        self.text = schema.parameters_and_returns()
        self.positional = tuple([a.name for a in positional])
        self.keyword_only = tuple([a.name for a in keyword_only])
        self.names = self.positional + self.keyword_only
        self.defaults = tuple([a.default for a in positional if a.default is not NO_DEFAULT])
        self.keyword_defaults = {a.name: a.default for a in keyword_only if a.default is not NO_DEFAULT}

    def __str__(self):
        return self.text


class UserOperator(Operator):
    """`ns::name`. Called with what the user writes; the arguments are bound to the schema first."""

    def __init__(self, schema):
        super().__init__(schema.name, Definition(schema))
        self.schema = schema
        self.published = self.from_user
        self.backward = self.setup_context = self._function = self.vmap_rule = None
        self.dispatch_rules = {}                    # class or mode with __torch_dispatch__ -> what it calls instead
        self.register(K.META, self.refuse_meta)
        if schema.is_mutable:
            self.register(K.AD_INPLACE_OR_VIEW, self.bumping_kernel)

    def from_user(self, *args, **kwargs):
        """The operator as users call it."""
        args = bound(self.schema, args, kwargs)
        if not any([isinstance(a, Tensor) for a in args]) and not list(tensors_in(args)):
            return self.without_tensors(args)
        return self(*args)

    def without_tensors(self, args):
        """A call whose arguments have no keys: a `device` among them says where it runs, else it is the CPU.

        RuntimeError if there is no kernel for the device.
        """
        if any([keys_of_other(a) for a in args]):                       # some other object takes the call over
            return self(*args)
        places = [a for a, argument in zip(args, self.schema.arguments) if argument.type.startswith("Device") and a]
        place = as_device(places[0]) if places else CPU
        keys = (K.OF_DEVICE[place.type] | state.included) & ~state.excluded
        if places and K.OF_DEVICE[place.type] not in self.kernels and not self.serves_all_devices():
            raise RuntimeError(f"{self.name.partition('::')[2]} does not have a kernel registered for {place.type}. "
                               "Please use register_kernel to do so.")
        return self._observed(keys, args) if observer.active else self.redispatch(keys, *args)

    def serves_all_devices(self):
        return COMPOSITE_EXPLICIT in self.kernels or COMPOSITE_IMPLICIT in self.kernels

    # ---- kernels -------------------------------------------------------------------------------------------

    def set_kernel(self, function, key, checks_aliases=True):
        """Let `function(*args, **keyword_only)` serve a key or alias."""
        count = len(self.info.signature.positional)
        names = self.info.signature.keyword_only

        def kernel(keys, *args):
            with excluding(K.AUTOGRAD if self.has_autograd() else 0):
                found = as_declared(self, function(*args[:count], **dict(zip(names, args[count:]))))
            if checks_aliases and not any(self.schema.return_aliases):
                refuse_aliases(self, function, args, found)
            return found
        self.register(key, kernel)

    def has_autograd(self):
        """Whether a kernel above the backends has recorded the call, so that what these call is not recorded
        again."""
        return any(self.kernels.get(key, fallthrough) is not fallthrough
                   for key in (K.AUTOGRAD, AUTOGRAD_ALIAS))

    def set_composite(self, function):
        """Let a composition of operators serve every key, autograd too."""
        count = len(self.info.signature.positional)
        names = self.info.signature.keyword_only
        self.forget_refusal()
        self.register(COMPOSITE_IMPLICIT,
                      lambda keys, *args: as_declared(self, function(*args[:count],
                                                                     **dict(zip(names, args[count:])))))

    def forget_refusal(self):
        """A composite kernel serves meta too, unless somebody has said what else to do there."""
        if self.kernels.get(K.META) == self.refuse_meta:
            del self.kernels[K.META]

    def refuse_meta(self, keys, *args):
        """What runs without data as long as no rule has been given."""
        raise NotImplementedError(
            f"{self.name}: attempted to run this operator with Meta tensors, but there was no fake impl or "
            "Meta kernel registered. You may have run into this message while using an operator with PT2 "
            "compilation APIs (torch.compile/torch.export); in order to use this operator with those APIs "
            "you'll need to add a fake impl: torch.library.register_fake.")

    def bumping_kernel(self, keys, *args):
        """The arguments that the schema marks as changed count one change more."""
        found = self.redispatch(keys & K.BELOW_AD_INPLACE_OR_VIEW, *args)
        for argument, value in zip(self.schema.arguments, args):
            if argument.is_mutable:
                for t in tensors_in([value]):
                    bump_version(t)
        return found

    def autograd_kernel(self, keys, *args):
        """Record a node if a gradient will be wanted."""
        if self.schema.is_mutable or not state.grad_enabled or not any([tracks(t) for t in tensors_in(args)]):
            return self.redispatch(keys & K.BELOW_AUTOGRAD, *args)
        count = len(self.info.signature.positional)
        structure = Structure(self.schema, args[:count])
        found = self.function.apply(*structure.flat(args[:count]), (keys, args[count:], structure))
        return structure.results_as_they_were(found)

    @property
    def function(self):
        """The autograd Function around the kernels below."""
        if self._function is None:
            self._function = generated_function(self)
        return self._function

    def forget_function(self):
        """The backward has changed."""
        self._function = None


def refuse_aliases(op, function, args, found):
    """RuntimeError if a result shares memory with an argument or another result."""
    seen = {id(storage) for t in tensors_in(args) for storage in storages_of(t)}
    for t in tensors_in(found if isinstance(found, (tuple, list)) else [found]):
        own = {id(storage) for storage in storages_of(t)}
        if own & seen:
            raise RuntimeError(ALIASES.format(op.name.partition("::")[2], getattr(function, "__module__", None)))
        seen |= own


def storages_of(t):
    """All memory that a tensor looks at: that of a sparse one is that of its indices and values."""
    if t.layout is sparse_coo:
        return [storage_of(part) for part in (t._storage.indices, t._storage.values)]
    return [storage_of(t)]


# ---- autograd ----------------------------------------------------------------------------------------------

def generated_function(op):
    """A Function whose forward is the operator below autograd and whose backward is the user's.

    Its last argument is (keys, keyword-only arguments, Structure): what comes before has gradients.
    """
    name = f"GeneratedBackwardFor_{op.name.replace('::', '_')}_default"

    def forward(ctx, *flat):
        *flat, (keys, keyword_only, structure) = flat
        args = structure.nested(flat)
        with excluding(K.AUTOGRAD | K.AD_INPLACE_OR_VIEW):
            found = op.redispatch(keys & K.BELOW_AUTOGRAD, *args, *keyword_only)
            set_up(op, ctx, args, keyword_only, found)
        ctx.structure = structure
        return structure.flat_results(found)

    def backward(ctx, *grads):
        if op.backward is None:
            raise RuntimeError(f"Trying to backward through {op.name.replace('::', '.')}.default but no "
                               "autograd formula was registered. Please use register_autograd to add one.")
        return (*user_gradients(op, ctx, ctx.structure.nested_results(grads)), None)
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward),
                                     "is_internal": True})


def set_up(op, ctx, args, keyword_only, found):
    """Call the user's setup_context, with keyword-only arguments apart if there are any."""
    if op.setup_context is None:
        return
    apart = {}
    if op.info.signature.keyword_only:
        apart["keyword_only_inputs"] = dict(zip(op.info.signature.keyword_only, keyword_only))
    op.setup_context(ctx=ctx, inputs=tuple(args), output=found, **apart)


def user_gradients(op, ctx, grads):
    """What the user's backward returns, flat; meanwhile `ctx.needs_input_grad` is nested like the arguments."""
    flat = ctx.needs_input_grad
    ctx.needs_input_grad = tuple(ctx.structure.nested(flat[:-1]))
    try:
        found = op.backward(ctx, *grads)
    finally:
        ctx.needs_input_grad = flat
    return ctx.structure.flat_gradients(found if isinstance(found, tuple) else (found,))
