"""Names for nodes and for what generated code refers to: valid, unused, close to what was asked for."""
import builtins
import keyword
import re


class Namespace:
    """Hands out names, each once."""

    def __init__(self):
        self._used = set()
        self._counts = {}

    def create_name(self, candidate):
        """A name like `candidate` that is a Python identifier and not in use: "x", then "x_1", "x_2"..."""
        candidate = re.sub(r"\W+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = "_" + candidate
        base, number = split_number(candidate)
        number = number or self._counts.get(base, 0)
        name = candidate
        while name in self._used or is_reserved(name):
            number += 1
            name = f"{base}_{number}"
        self._counts[base] = number
        self._used.add(name)
        return name


def split_number(name):
    """"x_3" -> ("x", 3); "x" -> ("x", None)."""
    match = re.fullmatch(r"(.*)_(\d+)", name)
    return (match[1], int(match[2])) if match else (name, None)


def is_reserved(name):
    """Whether generated code could not use the name for a variable."""
    return keyword.iskeyword(name) or name in vars(builtins) or name in ("inf", "nan", "NoneType", "torch",
                                                                         "self")


def snake_case(name):
    """"MaxPool2d" -> "max_pool2d"."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
