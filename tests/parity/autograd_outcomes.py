"""What a small program does in a library: its result or error, and its warnings, as plain values."""
import warnings


def plain(value, m):
    """A result as lists, numbers and text."""
    if isinstance(value, m.Tensor):
        return plain(value.detach().tolist(), m)
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {k: plain(v, m) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v, m) for v in value]
    return value


def outcome(function, m):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = plain(function(m), m)
        except Exception as error:
            result = f"{type(error).__name__}: {adapted(str(error))}"
    return result, [(w.category.__name__, adapted(str(w.message))[:60]) for w in seen
                    if issubclass(w.category, UserWarning)]


def adapted(text):
    """The first line of a message, without what differs by library alone."""
    first = text.strip().split("\n")[0]
    return first.replace("teachtorch", "torch").split(" (Triggered internally")[0]


def leaf(m, *values):
    return m.tensor(values or [1.0, 2.0, 3.0], dtype=m.float64, requires_grad=True)
