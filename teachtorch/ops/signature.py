"""From a declaration's Python signature to the function that users call.

The declared function says the arguments' names and defaults. The public function is generated from it, as
dataclasses generate __init__: a real Python function, so that help() and Python's own argument errors are right, and
a call costs one frame. It puts every argument in its place and calls the operator.
"""
import inspect

from ..core import observer
from ..core.generated import function_from
from ..dispatch.numpy_names import MISSING, missing_arguments, with_torch_names
from ..dispatch.overriding import asks, keys_of_other, overriding
from ..dispatch.keys import PYTHON_FUNCTION
from ..dispatch.state import state
from ..dispatch.call_rules import HAVE_OLDER_ORDER, in_new_order
from ..dispatch.wrong_types import explain, fits, refuse_misfit, spelled_otherwise
from ..tensor import Tensor


class Signature:
    """The arguments of an operator: `names` in order, and how users may pass them."""

    def __init__(self, function):
        code = function.__code__
        count, keyword_only = code.co_argcount, code.co_kwonlyargcount
        names = code.co_varnames
        self.positional = names[:count]
        self.keyword_only = names[count:count + keyword_only]
        self.rest = names[count + keyword_only] if code.co_flags & inspect.CO_VARARGS else None
        self.defaults = function.__defaults__ or ()
        self.keyword_defaults = function.__kwdefaults__ or {}
        self.names = self.positional + ((self.rest,) if self.rest else ()) + self.keyword_only
        self.possible_tensors = self._possible_tensors()

    def _possible_tensors(self):
        """The arguments that may hold tensors: those without a default, or with None for one."""
        required = len(self.positional) - len(self.defaults)
        defaults = dict(zip(self.positional[required:], self.defaults), **self.keyword_defaults)
        return [n for n in self.names if n != self.rest and defaults.get(n) is None]

    def as_written(self, values, in_place=True):
        """The likely call behind the values of all arguments: (args, {name: value}), without what is a default.

        What stands before the first default was probably given in its place, what comes later by its name; with
        `in_place=False` everything that has a default.
        """
        args, kwargs = [], {}
        required = len(self.positional) - len(self.defaults)
        for place, (name, value) in enumerate(zip(self.names, values)):
            if value is MISSING:
                in_place, required = False, 0
            elif name == self.rest:
                args += value
            elif place < required or in_place and place < len(self.positional) and not kwargs \
                    and len(args) == place and value is not self.defaults[place - required]:
                args.append(value)
            elif value is not self.default_of(name):
                kwargs[_shown(name)] = value
        return args, kwargs

    @property
    def defaulted(self):
        """The arguments that have a default."""
        return (*self.positional[len(self.positional) - len(self.defaults):], *self.keyword_defaults)

    def default_of(self, name):
        """The default of an argument; the class Signature, which nobody passes, if it has none."""
        if name in self.positional:
            place = self.positional.index(name) - len(self.positional) + len(self.defaults)
            return self.defaults[place] if place >= 0 else Signature
        return self.keyword_defaults.get(name, Signature)

    def for_users(self, has_out):
        """As an inspect.Signature, where `self` is called `input`."""
        required = len(self.positional) - len(self.defaults)
        parts = [_parameter(_shown(n), IN_PLACE, inspect.Parameter.empty if i < required else self.default_of(n))
                 for i, n in enumerate(self.positional)]
        parts += [_parameter(self.rest, inspect.Parameter.VAR_POSITIONAL)] if self.rest else []
        parts += [
            _parameter(n, BY_NAME, self.keyword_defaults.get(n, inspect.Parameter.empty)) for n in self.keyword_only
        ]
        parts += [_parameter("out", BY_NAME, None)] if has_out else []
        return inspect.Signature(parts, __validate_parameters__=False)

    def __str__(self):
        required = len(self.positional) - len(self.defaults)
        parts = list(self.positional[:required])
        parts += [f"{n}={d!r}" for n, d in zip(self.positional[required:], self.defaults)]
        parts += [f"*{self.rest}"] if self.rest else ["*"] if self.keyword_only else []
        parts += [f"{n}={self.keyword_defaults[n]!r}" if n in self.keyword_defaults else n for n in self.keyword_only]
        return f"({', '.join(parts)})"


IN_PLACE, BY_NAME = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


def _parameter(name, kind, default=inspect.Parameter.empty):
    return inspect.Parameter(name, kind, default=default)


def sequence(values):
    """`t.view(2, 3)` and `t.view((2, 3))` mean the same: the one tuple."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    return values


def public_function(op, signature, call_out=None, direct=None, rules=""):
    """A function of the declared arguments (`self` is called `input`, as in PyTorch) that calls the operator.

    It does itself what Operator.__call__ does in general: unite the key sets of the arguments that may be tensors and
    run the kernel chosen for them. `call_out(out, *arguments)` serves the keyword `out`; None leaves it away. `direct`:
    what a composition calls while nobody observes, since going through the dispatcher would only lead there.
    `rules`: under which name dispatch/call_rules.py knows how it may be called.
    """
    arguments = ", ".join(_passed(signature))
    if direct is None:
        body = _dispatching(signature, arguments)
    else:
        body = _composing(signature, arguments)
    body = _vetting(signature, arguments, op.info.kind == "pointwise") + body
    if call_out is not None:
        body = f"    if out is not None:\n        return _call_out(out, {arguments})\n" + body
    body = _respelling(signature, call_out is not None) + body
    is_older = rules in HAVE_OLDER_ORDER
    if is_older:
        body = _reordering(signature, call_out is not None) + body
    scope = {**_dispatch_scope(op), "_op": op, "_direct": direct, "_call_out": call_out, "_rules": rules,
             "_MISSING": MISSING, "_with_torch_names": with_torch_names, "_newly_ordered": newly_ordered}
    public = _compiled(op.name, _parameters(signature, call_out is not None, is_older), body, signature, scope)
    public.__signature__ = signature.for_users(call_out is not None)
    scope["_public"] = public
    return public


def _respelling(signature, has_out):
    """What calls the function again if NumPy's names were used (`numpy_names`), with PyTorch's in their place."""
    given = ", ".join(f"{_shown(n)}={_shown(n)}" for n in signature.names if n != signature.rest)
    given += ", out=out" * has_out
    return (
        f"    if numpy_names:\n"
        f"        _args, _kwargs = _with_torch_names(_rules, _name, numpy_names, _defaults, _keyword_defaults, {given})\n"
        f"        return _public(*_args, *{signature.rest or ()}, **_kwargs)\n"
    )


def _reordering(signature, has_out):
    """What calls the function again if its arguments come in the order of older versions, one of which is too many."""
    given = ", ".join(map(_shown, signature.positional))
    return ("    if more:\n"
            f"        _args, _kwargs = _newly_ordered(_rules, ({given}, *more), {'out' if has_out else None})\n"
            "        return _public(*_args, **_kwargs)\n")


def newly_ordered(rules, args, out):
    """(args, kwargs) in today's order. TypeError for too many arguments."""
    kwargs = {} if out is None else {"out": out}
    found = in_new_order(rules, args, kwargs)
    if found is None:
        refuse_misfit(rules, args, kwargs)
    return found


def _vetting(signature, arguments, is_pointwise):
    """What refuses wrong values that would do as right ones: 1 for True, True for a dimension.

    A class that fits once is remembered in `_taken_<name>`. Keyword-only numbers of pointwise operators may be
    anything.
    """
    lines = []
    for name in signature.defaulted:
        kind = type(signature.default_of(name))
        if kind in (bool, int) and not (is_pointwise and name in signature.keyword_only):
            shown = _shown(name)
            lines.append(
                f"    if {shown}.__class__ is not {kind.__name__} and {shown}.__class__ not in _taken_{name}:\n"
                f"        _meet({shown}, _taken_{name}, _rules, _signature, ({arguments},))\n"
            )
    return "".join(lines)


def meet(value, taken, rules, signature, values):
    """The keys that an argument of a class not met before adds. TypeError if the call does not fit `rules`."""
    if overriding[type(value)]:
        return PYTHON_FUNCTION
    if not fits(rules, *signature.as_written(values, in_place=False)):
        refuse_misfit(rules, *signature.as_written(values))
    taken.add(type(value))
    return 0


def explain_values(error, name, names, rules, signature, values):
    """Raise PyTorch's TypeError if the call, however it was written, does not fit `rules`; else what `explain` says."""
    written = signature.as_written(values, in_place=False)
    if fits(rules, *written):
        if rules and isinstance(error, TypeError | AttributeError) and (again := spelled_otherwise(rules, *written)):
            return again
        rules = ""
    if any([value is MISSING for value in values]):
        raise TypeError(missing_arguments(rules, name, names, values, *signature.as_written(values))) from None
    return explain(error, name, names, rules, *signature.as_written(values))


def _composing(signature, arguments):
    watched = ["_observer.active", "_state.included & _PYTHON_FUNCTION"]
    for name in signature.possible_tensors:
        shown = _shown(name)
        watched.append(
            f"{shown}.__class__ is not _Tensor and {shown}.__class__ not in _taken_{name} and (_asks({shown}) if "
            f"{shown}.__class__ in _SEQUENCES else _meet({shown}, _taken_{name}, _rules, _signature, ({arguments},)))"
        )
    return f"    if {' or '.join(watched)}:\n        return _op({arguments})\n    return _direct({arguments})\n"


def _dispatch_scope(op):
    """What the generated dispatching code refers to."""
    return {"_chosen": op._chosen, "_choose": op.choose, "_observed": op._observed, "_Tensor": Tensor,
            "_SEQUENCES": (list, tuple), "_keys_in": keys_in, "_state": state, "_observer": observer, "_asks": asks,
            "_meet": meet, "_PYTHON_FUNCTION": PYTHON_FUNCTION}


def positional_call(op, signature):
    """The operator as a function of all its arguments in their places: `op(...)`, written out for its signature."""
    names = [_shown(n) for n in signature.names]
    return _compiled(
        op.name, ", ".join(names), _dispatching(signature, ", ".join(names)), signature, _dispatch_scope(op)
    )


def _compiled(name, parameters, body, signature, scope):
    short = name.rpartition(".")[2]
    body = _explaining(body, short, ", ".join(map(_shown, signature.names)))
    scope.setdefault("_rules", "")
    scope.update({f"_taken_{n}": set() for n in signature.names})
    names, defaults = signature.positional, signature.defaults
    scope.update(_explain=explain_values, _name=short, _names=[_shown(n) for n in signature.names],
                 _signature=signature, _sequence=sequence, _keyword_defaults=signature.keyword_defaults,
                 _defaults=dict(zip(reversed(names), reversed(defaults))))
    return function_from(f"def {short}({parameters}):\n{body}", short, f"operator {name}", scope)


def _explaining(body, name, arguments):
    """The body inside a `try`, which costs nothing until something is raised. Then the call may be made again."""
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    return (f"    try:\n{indented}    except Exception as error:\n"
            f"        _again = _explain(error, _name, _names, _rules, _signature, ({arguments},))\n"
            f"        if _again is None:\n            raise\n    return {name}(*_again[0], **_again[1])\n")


def _shown(name):
    return "input" if name == "self" else name


def _passed(signature):
    """How the generated function passes its arguments on."""
    return [f"_sequence({n})" if n == signature.rest else _shown(n) for n in signature.names]


def _dispatching(signature, arguments):
    lines = ["    keys = 0"]
    for name in signature.possible_tensors:
        shown = _shown(name)
        lines += [f"    if isinstance({shown}, _Tensor):", f"        keys |= {shown}._keys",
                  f"    elif {shown}.__class__ in _SEQUENCES:", f"        keys |= _keys_in({shown})",
                  f"    elif {shown}.__class__ not in _taken_{name}:",
                  f"        keys |= _meet({shown}, _taken_{name}, _rules, _signature, ({arguments},))"]
    lines += ["    keys = (keys | _state.included) & ~_state.excluded", "    if _observer.active:",
              f"        return _observed(keys, ({arguments},))",
              f"    return (_chosen.get(keys) or _choose(keys))(keys, {arguments})"]
    return "\n".join(lines) + "\n"


def keys_in(values):
    """The keys of the tensors in a list or tuple."""
    keys = 0
    for value in values:
        keys |= value._keys if isinstance(value, Tensor) else keys_of_other(value)
    return keys


def _parameters(signature, has_out, is_older=False):
    """The generated function's parameter list. What a call needs is looked for later: it may come by NumPy's name, or
    (`is_older`) in another order and so with too many in their places."""
    required = len(signature.positional) - len(signature.defaults)
    parts = [f"{_shown(n)}=_MISSING" if i < required else f"{_shown(n)}=_defaults[{n!r}]"
             for i, n in enumerate(signature.positional)]
    if signature.rest:
        parts.append(f"*{signature.rest}")
    elif signature.keyword_only or has_out or is_older:
        parts.append("*more" if is_older else "*")
    parts += [f"{n}=_keyword_defaults[{n!r}]" if n in signature.keyword_defaults else n for n in signature.keyword_only]
    return ", ".join(parts + ["out=None"] * has_out + ["**numpy_names"])


def positional(function, signature):
    """The declared function as one that takes every argument in its place: `*rest` as a tuple, keywords in order."""
    if not signature.keyword_only and not signature.rest:
        return function
    passed = list(signature.positional) + ([f"*{signature.rest}"] if signature.rest else [])
    passed += [f"{n}={n}" for n in signature.keyword_only]
    return eval(f"lambda {', '.join(signature.names)}: _function({', '.join(passed)})", {"_function": function})
