"""Collects a module's programs, which are written once and run with either library."""


def functions_of_a_library(namespace, but=()):
    """{name: function} of the functions, defined in that module, of one argument that is called `lib`."""
    return {
        name: value
        for name, value in namespace.items()
        if callable(value)
        and getattr(value, "__module__", None) == namespace["__name__"]
        and value.__code__.co_varnames[:1] == ("lib",)
        and value.__code__.co_argcount == 1
        and name not in but
    }
