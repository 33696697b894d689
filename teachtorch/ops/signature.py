"""From a declaration's Python signature to the function that users call.

The declared function says the arguments' names and defaults. The public function is generated from it, as
dataclasses generate __init__: a real Python function, so that help() and Python's own argument errors are right, and
a call costs one frame. It puts every argument in its place and calls the operator.
"""
import inspect

from ..core import observer


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

    def __str__(self):
        required = len(self.positional) - len(self.defaults)
        parts = list(self.positional[:required])
        parts += [f"{n}={d!r}" for n, d in zip(self.positional[required:], self.defaults)]
        parts += [f"*{self.rest}"] if self.rest else ["*"] if self.keyword_only else []
        parts += [f"{n}={self.keyword_defaults[n]!r}" if n in self.keyword_defaults else n for n in self.keyword_only]
        return f"({', '.join(parts)})"


def sequence(values):
    """`t.view(2, 3)` and `t.view((2, 3))` mean the same: the one tuple."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        return tuple(values[0])
    return values


# What factory functions take besides their own arguments; the first two are passed on.
FACTORY_OPTIONS = "device=None, requires_grad=False, layout=None, pin_memory=False"


def public_function(name, signature, call, call_out=None, options="", direct=None):
    """A function of the declared arguments (`self` is called `input`, as in PyTorch) that runs `call(*arguments)`.

    `call_out(out, *arguments)`: what serves the keyword `out`; None leaves that keyword away. `options`: keywords
    of factories, of which device and requires_grad are passed in front of the arguments. `direct`: what a composition
    calls while nobody observes, since going through the dispatcher would only lead there.
    """
    places = ["input" if n == "self" else n for n in signature.names]
    arguments = ", ".join(f"_sequence({n})" if n == signature.rest else n for n in places)
    body = f"    return _call({arguments})\n"
    if direct is not None:
        body = f"    if _observer.active:\n    {body}    return _direct({arguments})\n"
    if call_out is not None:
        body = f"    if out is not None:\n        return _call_out(out, {arguments})\n" + body
    if options:
        body = f"    return _call(device, requires_grad, {arguments})\n"
    source = f"def {name.rpartition('.')[2]}({_parameters(signature, call_out, options)}):\n{body}"
    scope = {"_call": call, "_direct": direct, "_observer": observer, "_call_out": call_out, "_sequence": sequence,
             "_defaults": dict(zip(reversed(signature.positional), reversed(signature.defaults))),
             "_keyword_defaults": signature.keyword_defaults}
    exec(compile(source, f"<operator {name}>", "exec"), scope)
    return scope[name.rpartition(".")[2]]


def _parameters(signature, call_out, options):
    required = len(signature.positional) - len(signature.defaults)
    parts = []
    for i, name in enumerate(signature.positional):
        shown = "input" if name == "self" else name
        parts.append(shown if i < required else f"{shown}=_defaults[{name!r}]")
    if signature.rest:
        parts.append(f"*{signature.rest}")
    elif signature.keyword_only or call_out is not None or options:
        parts.append("*")
    parts += [f"{n}=_keyword_defaults[{n!r}]" if n in signature.keyword_defaults else n for n in signature.keyword_only]
    parts += ["out=None"] if call_out is not None else []
    return ", ".join(parts + ([options] if options else []))


def positional(function, signature):
    """The declared function as one that takes every argument in its place: `*rest` as a tuple, keywords in order."""
    if not signature.keyword_only and not signature.rest:
        return function
    passed = list(signature.positional) + ([f"*{signature.rest}"] if signature.rest else [])
    passed += [f"{n}={n}" for n in signature.keyword_only]
    return eval(f"lambda {', '.join(signature.names)}: _function({', '.join(passed)})", {"_function": function})
