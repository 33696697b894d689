"""Grades version_counter.py."""

from exercises.grading import equal, points


def versions(**tensors):
    """The versions by name."""
    return {name: tensor._version for name, tensor in tensors.items()}


@points(1, "a new tensor has version 0, a result its own counter")
def test_new(yours):
    a = yours.Tensor([1, 2])
    equal(versions(a=a), {"a": 0}, "nothing was changed yet", what="a = Tensor([1, 2])")
    b = a.add(10)
    equal(b.values, [11, 12], "a new tensor", what="a.add(10).values")
    equal(versions(a=a, b=b), {"a": 0, "b": 0}, "add makes new memory: it changes none", what="b = a.add(10)")


@points(1, "a change in place counts, and is seen through every alias")
def test_add_in_place(yours):
    a = yours.Tensor([1, 2])
    others = [a.view(), a.detach(), a.data]
    equal(a.add_(5) is a, True, "in-place operations return their tensor", what="a.add_(5) is a")
    a.add_(1)
    equal(versions(a=a), {"a": 2}, "two changes", what="a.add_(5), a.add_(1)")
    seen = [each.values for each in others]
    equal(seen, [[7, 8]] * 3, "they look into the same memory", what="the values of view, detach and data")


@points(1, "views share the counter")
def test_views(yours):
    a = yours.Tensor([1, 2], requires_grad=True)
    b = a.view()
    c = b.view()
    c.add_(1, grad_mode=False)
    why = "c looks into a's memory: who saved a must notice"
    equal(
        versions(a=a, b=b, c=c), {"a": 1, "b": 1, "c": 1}, why, what="b = a.view(); c = b.view(); c.add_(1)"
    )
    equal(b.requires_grad, True, "a view belongs to the graph of its base", what="b.requires_grad")


@points(1, "a detached tensor shares the counter")
def test_detach(yours):
    a = yours.Tensor([1, 2], requires_grad=True)
    b = a.detach()
    b.add_(1)
    why = "detach cuts the graph, not the memory: a's backward would use a changed value"
    equal(versions(a=a, b=b), {"a": 1, "b": 1}, why, what="b = a.detach(); b.add_(1)")
    equal(b.requires_grad, False, "it is detached", what="b.requires_grad")


@points(1, ".data does not share the counter")
def test_data(yours):
    a = yours.Tensor([1, 2], requires_grad=True)
    a.add_(1, grad_mode=False)
    b = a.data
    equal(versions(b=b), {"b": 0}, "a counter of its own, which begins at 0", what="a.add_(1); b = a.data")
    b.add_(1)
    why = ".data has a counter of its own: a's memory has changed, and nothing says so"
    equal(versions(a=a, b=b), {"a": 1, "b": 1}, why, what="a.add_(1); b = a.data; b.add_(1)")


@points(1, "changes without grad mode count too")
def test_no_grad(yours):
    a = yours.Tensor([1, 2], requires_grad=True)
    a.add_(1, grad_mode=False)
    why = "the memory is changed all the same: an optimizer's step under no_grad counts"
    equal(versions(a=a), {"a": 1}, why, what="a.add_(1) under no_grad")


@points(1, "what changes no memory does not count")
def test_requires_grad(yours):
    a = yours.Tensor([1, 2])
    equal(a.requires_grad_() is a, True, "it returns its tensor", what="a.requires_grad_() is a")
    equal(a.requires_grad, True, "it was asked for", what="a.requires_grad")
    a.view(), a.detach(), a.data, a.add(1)
    equal(versions(a=a), {"a": 0}, "no value was changed", what="requires_grad_, view, detach, data and add")


@points(1, "any program")
def test_any(yours, rng):
    for _ in range(20):
        tensors, expected, said = [yours.Tensor([0])], [[0]], ["t0 = Tensor([0])"]
        for number in range(1, 10):
            which = rng.randrange(len(tensors))
            kind = rng.choice(["view", "detach", "data", "add_", "add_"])
            said.append(f"t{len(tensors)} = t{which}.{kind}" if kind != "add_" else f"t{which}.add_(1)")
            if kind == "add_":
                tensors[which].add_(1, grad_mode=rng.random() < 0.5)
                expected[which][0] += 1
                continue
            tensors.append(tensors[which].data if kind == "data" else getattr(tensors[which], kind)())
            expected.append([0] if kind == "data" else expected[which])
        got = [tensor._version for tensor in tensors]
        equal(got, [each[0] for each in expected], "one counter for all but .data", what="\n".join(said))
