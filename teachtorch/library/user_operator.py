"""An operator that a user defines: a row of the dispatch table like our own, whose kernels come from the
user.

    autograd       a Function made of the user's backward       → below autograd
    ADInplaceOrView  bumps the versions of what is changed       → below that
    backend        the user's kernel; on meta, the fake rule
"""
from ..autograd import Function
from ..autograd.meta import tracks
from ..autograd.tensor_fields import bump_version
from ..dispatch import keys as K
from ..dispatch.nested import tensors_in
from ..dispatch.operator import AUTOGRAD_ALIAS, COMPOSITE_IMPLICIT, Operator, fallthrough
from ..dispatch.state import excluding, state
from ..tensor import Tensor, storage_of
from .binding import bound
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
        self.register(K.META, self.refuse_meta)
        if schema.is_mutable:
            self.register(K.AD_INPLACE_OR_VIEW, self.bumping_kernel)

    def from_user(self, *args, **kwargs):
        """The operator as users call it."""
        return self(*bound(self.schema, args, kwargs))

    # ---- kernels -------------------------------------------------------------------------------------------

    def set_kernel(self, function, key, checks_aliases=True):
        """Let `function(*args, **keyword_only)` serve a key or alias."""
        count = len(self.info.signature.positional)
        names = self.info.signature.keyword_only

        def kernel(keys, *args):
            with excluding(K.AUTOGRAD if self.has_autograd() else 0):
                found = as_declared(self, function(*args[:count], **dict(zip(names, args[count:]))))
            if checks_aliases:
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
        flat, structure = flattened(args)
        found = self.function.apply(keys, structure, *flat)
        return list(found) if self.schema.returns == ("Tensor[]",) else found

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
    seen = {id(storage_of(t)) for t in tensors_in(args)}
    for t in tensors_in(found if isinstance(found, (tuple, list)) else [found]):
        if id(storage_of(t)) in seen:
            raise RuntimeError(ALIASES.format(op.name.partition("::")[2], function.__module__))
        seen.add(id(storage_of(t)))


# ---- autograd ----------------------------------------------------------------------------------------------

def flattened(args):
    """The arguments with those of a list side by side, and how many each list had (None: no list)."""
    flat, structure = [], []
    for a in args:
        is_list = isinstance(a, (list, tuple)) and any([isinstance(item, Tensor) for item in a])
        structure.append(len(a) if is_list else None)
        flat.extend(a if is_list else [a])
    return flat, structure


def unflattened(flat, structure):
    values = iter(flat)
    return [next(values) if count is None else [next(values) for _ in range(count)] for count in structure]


def generated_function(op):
    """A Function whose forward is the operator below autograd and whose backward is the user's."""
    name = f"GeneratedBackwardFor_{op.name.replace('::', '_')}_default"

    def forward(ctx, keys, structure, *flat):
        args = unflattened(flat, structure)
        found = op.redispatch(keys & K.BELOW_AUTOGRAD, *args)
        ctx.argument_structure = structure
        set_up(op, ctx, args, found)
        return tuple(found) if isinstance(found, list) else found

    def backward(ctx, *grads):
        if op.backward is None:
            raise RuntimeError(f"Trying to backward through {op.name.replace('::', '.')}.default but no "
                               "autograd formula was registered. Please use register_autograd to add one.")
        if op.schema.returns == ("Tensor[]",):
            grads = (list(grads),)
        return None, None, *flat_gradients(op, op.backward(ctx, *grads), ctx.argument_structure)
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward),
                                     "is_internal": True})


def set_up(op, ctx, args, found):
    """Call the user's setup_context, with keyword-only arguments apart if there are any."""
    if op.setup_context is None:
        return
    signature = op.info.signature
    count = len(signature.positional)
    if signature.keyword_only:
        op.setup_context(ctx=ctx, inputs=tuple(args[:count]), output=found,
                         keyword_only_inputs=dict(zip(signature.keyword_only, args[count:])))
    else:
        op.setup_context(ctx=ctx, inputs=tuple(args), output=found)


def flat_gradients(op, grads, structure):
    """The user's gradients, one for each positional argument, as one for each value that went in."""
    grads = list(grads) if isinstance(grads, (tuple, list)) else [grads]
    count = len(op.info.signature.positional)
    if len(grads) != count:
        raise RuntimeError(f"{op.name}: the backward returned {len(grads)} gradients; the operator has "
                           f"{count} arguments, and each takes a gradient or None")
    grads += [None] * (len(structure) - count)
    flat = []
    for grad, length in zip(grads, structure):
        if length is None:
            flat.append(grad)
        else:
            flat.extend([None] * length if grad is None else grad)
    return flat


