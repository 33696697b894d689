"""Grades who_is_asked.py."""

from exercises.grading import equal, points, raises

LOG = []


def cls(name, parent=object, answer=NotImplemented):
    """A class that notes that it was asked, and answers this."""
    def handler(function, types, args):
        LOG.append(name)
        return answer
    return type(name, (parent,), {"__torch_function__": staticmethod(handler)})


def names(objects):
    return [type(o).__name__ for o in objects]


def asked(yours, *args):
    """The classes that were asked, in order."""
    LOG.clear()
    try:
        yours.call(len, *args)
    except TypeError:
        pass
    return list(LOG)


@points(1, "nobody to ask: the function itself")
def test_nobody(yours):
    equal(yours.call(max, 1, 2), 2, "ints have no __torch_function__")
    equal(yours.overloaded([1, "a"]), [], "nor have strings")


@points(1, "from left to right")
def test_left_to_right(yours):
    a, b = cls("A"), cls("B")
    equal(names(yours.overloaded([a(), b()])), ["A", "B"], "strangers: left to right")
    equal(names(yours.overloaded([b(), 3, a()])), ["B", "A"], "strangers: left to right")


@points(2, "a subclass before its parents")
def test_subclass(yours):
    a = cls("A")
    child, other = cls("Child", a), cls("Other")
    why = "Child descends from A and knows more than it: it is asked first, although it stands further right"
    equal(names(yours.overloaded([a(), child()])), ["Child", "A"], why)
    equal(names(yours.overloaded([other(), a(), child()])), ["Other", "Child", "A"], "just before A; Other is no relative")


@points(1, "each class once")
def test_once(yours):
    a = cls("A")
    equal(asked(yours, a(), a(), a()), ["A"], "three arguments of one class: it is asked once")


@points(2, "NotImplemented: the next one")
def test_next(yours):
    a, b = cls("A"), cls("B", answer="B knows")
    equal(asked(yours, a(), b()), ["A", "B"], "A returned NotImplemented, so B is asked")
    equal(yours.call(len, a(), b()), "B knows", "and B's answer is that of the call")


@points(1, "the first answer counts")
def test_first(yours):
    a, b = cls("A", answer=None), cls("B", answer="B knows")
    equal(yours.call(len, a(), b()), None, "A answered None, which is an answer")
    equal(asked(yours, a(), b()), ["A"], "after an answer nobody else is asked")


@points(1, "nobody knows: TypeError")
def test_nobody_knows(yours):
    raises(TypeError, yours.call, len, cls("A")(), cls("B")(), why="all returned NotImplemented", text="NotImplemented")


@points(1, "each is told all classes")
def test_types(yours):
    seen = []
    a = type("A", (), {"__torch_function__": staticmethod(lambda function, types, args: seen.append(types))})
    b = cls("B")
    yours.call(len, b(), a())
    equal([t.__name__ for t in seen[0]], ["B", "A"], "the classes of all that are asked, in order")
