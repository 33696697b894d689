"""swap_tensors: two tensors exchange what they are, for all who hold them."""
import weakref


def swap_tensors(t1, t2):
    """Make `t1` what `t2` was, and the other way round: data, class, gradients, attributes.

    RuntimeError where somebody holds a weak reference to one of them, which would not know.
    https://pytorch.org/docs/stable/generated/torch.utils.swap_tensors.html
    """
    for t, name in ((t1, "t1"), (t2, "t2")):
        if weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    fields = [name for cls in type(t1).__mro__ for name in cls.__dict__.get("__slots__", ())
              if name not in ("__dict__", "__weakref__")]
    states = [[getattr(t, name) for name in fields] for t in (t1, t2)]
    attributes = [dict(t.__dict__) for t in (t1, t2)]
    t1.__class__, t2.__class__ = type(t2), type(t1)
    for t, state, own in ((t1, states[1], attributes[1]), (t2, states[0], attributes[0])):
        for name, value in zip(fields, state):
            setattr(t, name, value)
        t.__dict__.clear()
        t.__dict__.update(own)
