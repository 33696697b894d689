"""How PyTorch's functions may be called, as teachtorch/dispatch/pytorch_signatures.txt lists it.

The signatures are texts in PyTorch's library; which of them belong to a function it says itself, when it is called with
arguments that none of them takes. `python -m tests.parity.pytorch_signatures` writes the file from the PyTorch that is
installed.
"""
import inspect
import re
from pathlib import Path

from teachtorch.dispatch.call_rules import FILE, Rule

SIGNATURE = re.compile(rb"[A-Za-z_0-9]+\([^\n]*\)(\|deprecated|\|hidden)?")
HEAD = """\
# How functions of PyTorch 2.13 may be called, in its own words: what teachtorch reads when a call has failed.
# Written by tests/parity/pytorch_signatures.py.
"""


def texts(torch):
    """{name: (signatures, endings of others' signatures)}: the linker lets a text stand for its own endings, too."""
    library = (Path(torch.__file__).parent / "lib" / "libtorch_python.so").read_bytes()
    whole, endings = {}, {}
    for text in dict.fromkeys(library.split(b"\0")):
        if 3 < len(text) < 2000 and SIGNATURE.fullmatch(text):
            text = text.decode("latin1")
            name = text[:text.index("(")]
            whole.setdefault(name, []).append(text)
            for start in range(1, len(name)):
                endings.setdefault(name[start:], []).append(text[start:])
    return {name: (whole.get(name, []), endings.get(name, [])) for name in {**whole, **endings}}


def spaces(torch):
    return {"": torch, "Tensor.": torch.Tensor, "nn.functional.": torch.nn.functional,
            "linalg.": torch._C._linalg, "special.": torch._C._special}


def said_of(function, first):
    """What PyTorch says of a function's signatures: their texts, or (fewest, most) arguments in places."""
    try:
        function(*first, *[object()] * 30)
    except TypeError as error:
        said = str(error)
        expected = re.search(r"but expected (?:one of:\n)?(.*)", said, re.DOTALL)
        if expected:
            lines = [line.strip().removeprefix("* ") for line in expected[1].split("\n")]
            return [line for line in lines if line.startswith("(") and "!" not in line]
        counts = re.search(r"takes (?:from (\d+) to )?(\d+) positional", said)
        return counts and (int(counts[1] or counts[2]), int(counts[2]))
    except Exception:
        return None


def signatures_of(said, whole, endings, is_method):
    """The texts that PyTorch means, in its order; deprecated ones, of which it does not speak, last."""
    rules = {}
    for text in whole + endings:
        try:
            rule = Rule(text)
        except KeyError:
            continue
        if not rule.hidden or is_method != takes_input(rule):
            rules[text] = rule
    if isinstance(said, tuple):
        fitting = sorted(rules.items(), key=lambda item: (item[0] not in whole, takes_input(item[1]) == is_method))
        named = [t for t, r in fitting if (r.fewest, r.most_in_place) == said and not r.hidden][:1]
    else:
        shown = {str(rule): text for text, rule in reversed(rules.items()) if not rule.hidden}
        named = [shown.get(line, whole[0].partition("(")[0] + line) for line in said]
    return named + [t for t, r in rules.items() if r.hidden] if named else []


def takes_input(rule):
    return bool(rule.parameters) and rule.parameters[0].name == "input"


def listing(torch, names):
    """The text of the file: of `names`, {space: names}."""
    candidates, lines = texts(torch), []
    for space, host in spaces(torch).items():
        for name in sorted(n for n in names[space] if not re.match("(linalg_|special_)?_", n)):
            function = getattr(host, name, None)
            if not callable(function) or inspect.isfunction(function) or inspect.isclass(function):
                continue
            said = said_of(function, [torch.ones(2, 3)] if space == "Tensor." else [])
            if said:
                prefix = space if space in ("Tensor.", "nn.functional.") else ""
                lines += [
                    prefix + text for text in signatures_of(said, *candidates.get(name, ([], [])), space == "Tensor.")
                ]
    return HEAD + "\n".join(lines) + "\n"


def names_in(teachtorch):
    """{space: names} that teachtorch has too; a method of a name that is a function is called by the same rules."""
    functions, methods = set(dir(teachtorch)), dir(teachtorch.Tensor)
    own = [n for n in methods if n not in functions or getattr(teachtorch, n) is not getattr(teachtorch.Tensor, n)]
    return {"": functions, "Tensor.": set(own),
            "nn.functional.": set(dir(teachtorch.nn.functional)),
            "linalg.": {f"linalg_{n}" for n in dir(teachtorch.linalg)},
            "special.": {f"special_{n}" for n in dir(teachtorch.special)}}


if __name__ == "__main__":
    import torch

    import teachtorch

    FILE.write_text(listing(torch, names_in(teachtorch)), encoding="utf-8")
    print(f"wrote {FILE}")
