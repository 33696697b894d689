"""An operator's lists of tensors laid side by side, since a node of the graph takes and returns tensors.

    op([a, b], c, 2.0)      →  a, b, c, 2.0         Structure: a list of 2, one, one
    gradients [ga, gb], gc, None  →  ga, gb, gc, None
"""
from ..tensor import Tensor


class Structure:
    """How the arguments of one call, and its results, were nested: `lengths`, None where there was no list.

    `schema`: says where lists of tensors may stand. Without any, nothing is looked at.
    """

    def __init__(self, schema, args):
        self.has_lists = any(["Tensor" in type_ and "[]" in type_
                              for type_ in (*[a.type for a in schema.arguments], *schema.returns)])
        types = [a.type if self.has_lists else "" for a in schema.arguments]
        self.lengths = [len(a) if "Tensor" in type_ and is_list_of_tensors(a) else None
                        for type_, a in zip(types, args)]
        self.result_lengths = None
        self.is_tuple = False

    def flat(self, args):
        """The arguments with the tensors of lists side by side."""
        return flat_values(args, self.lengths)

    def nested(self, flat):
        """The reverse."""
        return nested_values(flat, self.lengths)

    def flat_results(self, found):
        """The results likewise; remembers how they were."""
        if not self.has_lists:
            return found
        self.is_tuple = isinstance(found, tuple)
        results = found if self.is_tuple else (found,)
        self.result_lengths = [len(r) if is_list_of_tensors(r) else None for r in results]
        return tuple(flat_values(results, self.result_lengths))

    def results_as_they_were(self, found):
        """What the node returned, nested like the operator's results."""
        if not self.has_lists:
            return found
        results = nested_values(found if isinstance(found, tuple) else (found,), self.result_lengths)
        return tuple(results) if self.is_tuple else results[0]

    def nested_results(self, grads):
        """The gradients of the results, nested like these."""
        return nested_values(grads, self.result_lengths) if self.has_lists else grads

    def flat_gradients(self, found):
        """The gradients of the arguments side by side. RuntimeError where they are nested in another way."""
        if not self.has_lists:
            return found
        lengths = [len(g) if is_list_of_gradients(g) else None for g in found]
        if lengths != self.lengths:
            raise RuntimeError("Expected the return from backward to be of the same structure as the inputs. Got: "
                               f"{described(lengths)} (return from backward), {described(self.lengths)} (inputs)")
        return flat_values(found, lengths)


def is_list_of_tensors(value):
    return isinstance(value, (list, tuple)) and all([isinstance(item, Tensor) for item in value])


def is_list_of_gradients(value):
    return isinstance(value, list) and all([item is None or isinstance(item, Tensor) for item in value])


def flat_values(values, lengths):
    flat = []
    for value, length in zip(values, lengths):
        flat.extend([value] if length is None else value)
    return flat


def nested_values(flat, lengths):
    values = iter(flat)
    return [next(values) if length is None else [next(values) for _ in range(length)] for length in lengths]


def described(lengths):
    """The structure as text, with one * for each tensor."""
    parts = ["*" if length is None else f"list({', '.join('*' * length)})" for length in lengths]
    return f"tuple({', '.join(parts)})"
