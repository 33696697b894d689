"""Programs of classes and modes that take calls over: who is asked, in which order, and what comes out."""

import importlib

from tests.parity.collected import functions_of_a_library


def part(lib, name):
    return importlib.import_module(f"{lib.__name__}.{name}")


def name_of(func):
    return getattr(func, "__name__", str(func)).strip("_")


def function_mode(lib, log, name, change=None):
    class Mode(lib.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append([name, name_of(func), [t.__name__ for t in types]])
            found = func(*args, **(kwargs or {}))
            return found if change is None else change(found)

    return Mode()


def dispatch_mode(lib, log, name, change=None):
    class Mode(part(lib, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append([name, str(func), [t.__name__ for t in types]])
            found = func(*args, **(kwargs or {}))
            return found if change is None else change(found)

    return Mode()


def logging_class(lib, log, name, base=None, answer=True):
    def handler(cls, func, types, args=(), kwargs=None):
        log.append([cls.__name__, name_of(func), [t.__name__ for t in types]])
        if not answer:
            return NotImplemented
        return super(made, cls).__torch_function__(func, types, args, kwargs or {})

    made = type(name, (base or lib.Tensor,), {"__torch_function__": classmethod(handler)})
    return made


def wrapper(lib, log, name="Wrapper", correct=False, **options):
    pytree, dispatch = part(lib, "utils._pytree"), part(lib, "utils._python_dispatch")

    class Wrapper(lib.Tensor):
        __torch_function__ = lib._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, inner, **further):
            given = {"strides": inner.stride(), "dtype": inner.dtype, "device": inner.device, **options, **further}
            return lib.Tensor._make_wrapper_subclass(cls, inner.shape, **given)

        def __init__(self, inner, **further):
            self.inner = inner

        def __repr__(self, **contents):
            return f"Wrapper({self.inner.tolist()})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append([str(func), [t.__name__ for t in types]])
            inner_args, inner_kwargs = pytree.tree_map_only(Wrapper, lambda w: w.inner, (args, kwargs or {}))
            found = pytree.tree_map_only(lib.Tensor, cls, func(*inner_args, **inner_kwargs))
            return dispatch.return_and_correct_aliasing(func, args, kwargs or {}, found) if correct else found

    Wrapper.__name__ = name
    return Wrapper


# ---- __torch_function__: modes ---------------------------------------------------------------------------------------


def innermost_first(lib):
    log = []
    with function_mode(lib, log, "outer"), function_mode(lib, log, "inner"):
        lib.ones(2) + 1
    return log


def mode_before_class(lib):
    log = []
    A = logging_class(lib, log, "A")
    a = lib.ones(2).as_subclass(A)
    log.clear()
    with function_mode(lib, log, "mode"):
        lib.add(a, 1)
    return log


def mode_changes_results(lib):
    with function_mode(lib, [], "mode", lambda found: found + 1 if isinstance(found, lib.Tensor) else found):
        return [lib.zeros(2), lib.zeros(2).sum()]


def mode_is_off_in_its_handler(lib):
    log = []

    class Mode(lib.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(name_of(func))
            lib.ones(1) * 2
            return func(*args, **(kwargs or {}))

    with Mode():
        lib.neg(lib.ones(1))
    return log


def mode_entered_in_its_own_handler(lib):
    log = []

    class Mode(lib.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(name_of(func))
            if len(log) < 3:
                with self:
                    return func(*args, **(kwargs or {}))
            return func(*args, **(kwargs or {}))

    with Mode():
        lib.neg(lib.ones(1))
    return log


def mode_without_a_handler(lib):
    class Mode(lib.overrides.TorchFunctionMode):
        pass

    with Mode():
        lib.ones(1)


def mode_that_refuses(lib):
    class Mode(lib.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with Mode():
        lib.neg(lib.ones(1))


def mode_after_an_error(lib):
    log = []
    mode = function_mode(lib, log, "mode")
    try:
        with mode:
            raise KeyError
    except KeyError:
        lib.ones(1)
    return log


def mode_twice(lib):
    log = []
    mode = function_mode(lib, log, "mode")
    with mode, mode:
        lib.ones(1)
    return log


def functions_that_are_no_operators(lib):
    """Methods that ask for one number or for sizes are not shown in teachtorch, as attributes are not."""
    log = []
    with function_mode(lib, log, "mode"):
        x = lib.tensor([1.0, 2.0])
        lib.stack([x, x])
        lib.nn.functional.softmax(x, 0)
        lib.arange(3)
        lib.einsum("i,i->", x, x)
        lib.broadcast_tensors(x, x)
    return [entry[1] for entry in log]


def mode_sees_attributes(lib):
    """PyTorch asks for attributes, too; teachtorch does not: results alone are compared."""
    with function_mode(lib, [], "mode"):
        x = lib.ones(2, 3)
        return [tuple(x.shape), str(x.dtype), x.ndim, x.requires_grad, x.is_leaf]


def disabled(lib):
    log = []
    A = logging_class(lib, log, "A")
    a = lib.ones(2).as_subclass(A)
    log.clear()
    with function_mode(lib, log, "mode"):
        with lib._C.DisableTorchFunctionSubclass():
            found = [type(a + 1).__name__]
        with lib._C.DisableTorchFunction():
            found.append(type(a + 1).__name__)
    return [found, log]


# ---- __torch_function__: classes -------------------------------------------------------------------------------------


def subclass_before_its_parent(lib):
    log = []
    A = logging_class(lib, log, "A")
    B = logging_class(lib, log, "B", A)
    a, b = lib.ones(1).as_subclass(A), lib.ones(1).as_subclass(B)
    log.clear()
    return [type(lib.add(a, b)).__name__, log]


def left_to_right(lib):
    log = []
    A, B = logging_class(lib, log, "A", answer=False), logging_class(lib, log, "B", answer=False)
    a, b = lib.ones(1).as_subclass(A), lib.ones(1).as_subclass(B)
    log.clear()
    try:
        lib.add(b, a)
    except TypeError as error:
        return [log, str(error).partition(";")[0]]


def refusing_class_then_another(lib):
    log = []
    A, B = logging_class(lib, log, "A", answer=False), logging_class(lib, log, "B")
    a, b = lib.ones(1).as_subclass(A), lib.ones(1).as_subclass(B)
    log.clear()
    try:
        return [type(lib.add(a, b)).__name__, log]
    except TypeError:
        return log


def in_a_list(lib):
    log = []
    A = logging_class(lib, log, "A")
    a = lib.ones(1).as_subclass(A)
    log.clear()
    return [type(lib.cat([lib.ones(1), a])).__name__, type(lib.stack((a, lib.ones(1)))).__name__, log]


def by_name(lib):
    log = []
    A = logging_class(lib, log, "A")
    a = lib.ones(1).as_subclass(A)
    log.clear()
    return [
        type(lib.add(lib.ones(1), other=a)).__name__,
        type(lib.where(lib.tensor(True), input=lib.ones(1), other=a)).__name__,
        log,
    ]


def reflected(lib):
    log = []
    A = logging_class(lib, log, "A")
    a = lib.ones(1).as_subclass(A)
    log.clear()
    found = [2 - a, 2**a, lib.ones(1) - a, a @ a, -a, a[0], a == 1]
    return [[type(f).__name__ for f in found], [entry[1] for entry in log]]


def in_place(lib):
    A = logging_class(lib, [], "A")
    a = lib.ones(2).as_subclass(A)
    b = a
    b += 1
    a[0] = 5
    a.mul_(2)
    return [type(a).__name__, a is b, a.tolist()]


def containers_of_results(lib):
    A = logging_class(lib, [], "A")
    a = lib.arange(6.0).view(2, 3).as_subclass(A)
    found = a.max(dim=0)
    return [
        type(found).__name__.rpartition(".")[2],
        type(found.values).__name__,
        [type(p).__name__ for p in a.split(1)],
        [type(p).__name__ for p in a.unbind()],
        type(a.sum().item()).__name__,
        type(a.tolist()).__name__,
    ]


def duck_array(lib):
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return [name_of(func), [t.__name__ for t in types], len(args), sorted(kwargs or {})]

    d = Duck()
    return [
        lib.add(d, 1),
        lib.add(lib.ones(1), d),
        lib.cat([d, d], dim=0),
        lib.relu(d),
        lib.sum(d, dim=1),
        lib.ones(1) + d if hasattr(Duck, "__radd__") else lib.mul(lib.ones(1), d),
    ]


def unusual_new(lib):
    """A class whose instances need more than data."""

    class Tagged(lib.Tensor):
        @staticmethod
        def __new__(cls, data, tag):
            made = lib.as_tensor(data).as_subclass(cls)
            made.tag = tag
            return made

    t = Tagged([1.0, 2.0], "a")
    u = t + 1
    return [
        type(u).__name__,
        t.tag,
        hasattr(u, "tag"),
        u.tolist(),
        type(t[0]).__name__,
        type(t.clone()).__name__,
        type(t.detach()).__name__,
        type(lib.nn.Parameter(t)).__name__,
    ]


def keyword_of_new(lib):
    class Scaled(lib.Tensor):
        def __new__(cls, *args, scale=1.0, **kwargs):
            return super().__new__(cls, *args, **kwargs)

        def __init__(self, *args, scale=1.0, **kwargs):
            self.scale = scale

    t = Scaled([1.0, 2.0], scale=3.0)
    return [type(t).__name__, t.scale, t.tolist(), type(t * 2).__name__]


def gradients_of_a_subclass(lib):
    A = logging_class(lib, [], "A")
    a = lib.ones(2).as_subclass(A).requires_grad_()
    (a * 3).sum().backward()
    return [type(a.grad).__name__, a.grad.tolist()]


def handler_without_classmethod(lib):
    class Odd(lib.Tensor):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "odd"

    o = lib.ones(1).as_subclass(Odd)
    try:
        return lib.neg(o)
    except Exception as error:
        return type(error).__name__


# ---- __torch_dispatch__: modes ---------------------------------------------------------------------------------------


def dispatch_innermost_first(lib):
    log = []
    x = lib.ones(2)
    with dispatch_mode(lib, log, "outer"), dispatch_mode(lib, log, "inner"):
        x + 1
        lib.nn.functional.linear(x.view(1, 2), lib.ones(3, 2))
    return log


def dispatch_below_autograd(lib):
    log = []
    x = lib.ones(2, requires_grad=True)
    with dispatch_mode(lib, log, "mode"):
        y = (x * x).sum()
        y.backward()
    return [[entry[1] for entry in log if "detach" not in entry[1]], x.grad]


def dispatch_and_function_mode(lib):
    log = []
    x = lib.ones(2)
    with dispatch_mode(lib, log, "dispatch"), function_mode(lib, log, "function"):
        lib.relu(x)
    return log


def dispatch_mode_that_refuses(lib):
    class Mode(part(lib, "utils._python_dispatch").TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with Mode():
        lib.neg(lib.ones(1))


def dispatch_mode_without_a_handler(lib):
    class Mode(part(lib, "utils._python_dispatch").TorchDispatchMode):
        pass

    with Mode():
        lib.ones(1)


def dispatch_mode_changes_results(lib):
    x = lib.zeros(2)
    with dispatch_mode(lib, [], "mode", lambda found: found + 1):
        return [x.neg(), x.sum()]


def factories_in_a_dispatch_mode(lib):
    log = []
    with dispatch_mode(lib, log, "mode"):
        lib.zeros(2)
        lib.arange(3)
        lib.full((2,), 7.0)
        lib.ones_like(lib.empty(1))
    return [entry[1] for entry in log]


def mode_over_wrapper(lib):
    log = []
    w = wrapper(lib, log)(lib.ones(2))
    log.clear()
    with dispatch_mode(lib, log, "mode"):
        w + 1
    return log


def current_modes(lib):
    dispatch = part(lib, "utils._python_dispatch")
    found = [len(dispatch._get_current_dispatch_mode_stack())]
    with dispatch_mode(lib, [], "a"), dispatch_mode(lib, [], "b"):
        found.append(len(dispatch._get_current_dispatch_mode_stack()))
        with dispatch._disable_current_modes():
            found.append(len(dispatch._get_current_dispatch_mode_stack()))
        found.append(len(dispatch._get_current_dispatch_mode_stack()))
    return found


# ---- wrapper tensors -------------------------------------------------------------------------------------------------


def written_through(lib, look):
    """Values and gradients after an in-place change of what `look` sees of a wrapper."""
    W = wrapper(lib, [])
    leaf = W(lib.arange(6.0).reshape(2, 3)).requires_grad_()
    base = leaf * 2
    version = base._version
    view = look(base)
    view.mul_(3)
    base.sum().backward()
    return [leaf.grad.sum().inner.item() if type(leaf.grad) is W else leaf.grad.sum().item(), base.inner.tolist(),
            view._is_view(), view._base is base, base._version - version, view._version - version]


def wrapper_written_through_a_row(lib):
    return written_through(lib, lambda base: base[1])


def wrapper_written_through_a_slice(lib):
    return written_through(lib, lambda base: base[:, 1:])


def wrapper_written_through_a_view_of_a_view(lib):
    return written_through(lib, lambda base: base.t()[2:])


def wrapper_gradient_of_a_slice(lib):
    """Where the gradient goes, element by element."""
    W = wrapper(lib, [])
    leaf = W(lib.ones(4)).requires_grad_()
    base = leaf * 2
    base[1:3] = 7
    base[3].mul_(5)
    base.sum().backward()
    grad = leaf.grad
    return (grad.inner if type(grad) is W else grad).tolist()


def wrapper_changed_after_it_was_saved(lib):
    W = wrapper(lib, [])
    base = W(lib.ones(3)).requires_grad_() * 2
    square = base * base
    base.view(3).add_(1)
    try:
        square.sum().backward()
    except RuntimeError as error:
        return str(error)[:60]


def wrapper_options(lib):
    W = wrapper(lib, [])
    found = []
    for options in (
        {},
        {"dtype": lib.float16},
        {"strides": (1, 2)},
        {"requires_grad": True},
        {"storage_offset": 1},
        {"device": "meta"},
        {"dispatch_sizes_strides_policy": None},
        {"layout": lib.strided},
        {"memory_format": None},
    ):
        w = W(lib.ones(2, 3), **options)
        found.append(
            [
                str(w.dtype),
                w.stride(),
                w.requires_grad,
                w.storage_offset(),
                w.device.type,
                str(w.layout),
                w.is_leaf,
                w.is_contiguous(),
                w.numel(),
            ]
        )
    return found


def wrapper_of_wrong_size(lib):
    W = wrapper(lib, [])
    return lib.Tensor._make_wrapper_subclass(W, 3)


def wrapper_of_a_negative_size(lib):
    W = wrapper(lib, [])
    return lib.Tensor._make_wrapper_subclass(W, (-1,))


def wrapper_of_wrong_strides(lib):
    W = wrapper(lib, [])
    return lib.Tensor._make_wrapper_subclass(W, (2, 3), strides=(1,))


def wrapper_without_a_handler(lib):
    class Plain(lib.Tensor):
        pass

    return lib.Tensor._make_wrapper_subclass(Plain, (2,))


def wrapper_of_integers_with_gradient(lib):
    W = wrapper(lib, [])
    return lib.Tensor._make_wrapper_subclass(W, (2,), dtype=lib.int64, requires_grad=True)


def two_wrappers(lib):
    log = []
    A = wrapper(lib, log, "A")
    a, b = A(lib.ones(2)), A(lib.ones(2))
    log.clear()
    c = a + b
    return [type(c).__name__, c.inner, log]


def wrapper_meets_a_plain_tensor(lib):
    log = []
    A = wrapper(lib, log, "A")
    a = A(lib.ones(2))
    log.clear()
    return [type(a * lib.ones(2)).__name__, type(lib.ones(2) * a).__name__, type(2 * a).__name__, log]


def aliasing_of_views(lib):
    W = wrapper(lib, [], correct=True)
    w = W(lib.arange(6.0).view(2, 3))
    v = w.view(6)
    t = w.t()
    same = v.untyped_storage()._cdata == w.untyped_storage()._cdata if hasattr(v.untyped_storage(), "_cdata") else True
    return [same, v._is_view(), v._base is w, t.stride(), w.detach()._is_view()]


def aliasing_of_in_place(lib):
    W = wrapper(lib, [], correct=True)
    w = W(lib.ones(2))
    before = w._version
    found = [w.add_(1) is w, w.mul_(2) is w, lib.add(w, 1, out=w) is w if False else True, w._version - before, w.inner]
    w += 1
    return [*found, w.inner]


def aliasing_of_a_list(lib):
    W = wrapper(lib, [], correct=True)
    parts = W(lib.arange(4.0)).split(2)
    return [[type(p).__name__ for p in parts], [p._is_view() for p in parts], [p.inner for p in parts]]


def gradients_of_a_wrapper(lib):
    W = wrapper(lib, [])
    w = W(lib.full((2,), 3.0), requires_grad=True)
    ((w * w).sum() * 2).backward()
    return [type(w.grad).__name__, w.grad.inner, w.is_leaf]


def view_of_a_wrapper_with_gradient(lib):
    W = wrapper(lib, [], correct=True)
    w = W(lib.full((2, 2), 3.0), requires_grad=True)
    (w.view(4) * 2).sum().backward()
    return w.grad.inner


def wrapper_in_place_under_autograd(lib):
    W = wrapper(lib, [], correct=True)
    w = W(lib.ones(2), requires_grad=True)
    y = w * 2
    y.add_(1)
    (y * y).sum().backward()
    return w.grad.inner


def wrapper_parameter(lib):
    W = wrapper(lib, [])
    p = lib.nn.Parameter(W(lib.ones(2)))
    return [isinstance(p, lib.nn.Parameter), p.requires_grad, type(p).__name__, p.is_leaf]


def wrapper_copies(lib):
    W = wrapper(lib, [])
    w = W(lib.ones(2))
    return [
        type(w.clone()).__name__,
        type(w.detach()).__name__,
        type(w.to(lib.float64)).__name__,
        str(w.to(lib.float64).dtype),
        type(lib.zeros_like(w)).__name__,
        type(w.new_zeros(3)).__name__,
    ]


def flattened(lib):
    dispatch = part(lib, "utils._python_dispatch")
    W = wrapper(lib, [])
    before = dispatch.is_traceable_wrapper_subclass(W(lib.ones(2)))
    W.__tensor_flatten__ = lambda self: (["inner"], {"a": 1})
    W.__tensor_unflatten__ = staticmethod(lambda inner, context, size, stride: W(inner["inner"]))
    w = W(lib.ones(2))
    made = dispatch.transform_subclass(w, lambda name, inner: inner + 1)
    return [
        before,
        dispatch.is_traceable_wrapper_subclass(w),
        dispatch.is_traceable_wrapper_subclass(lib.ones(1)),
        dispatch.is_traceable_wrapper_subclass_type(W),
        made.inner,
    ]


def subclass_made_by_make_subclass(lib):
    class A(lib.Tensor):
        pass

    a = lib.Tensor._make_subclass(A, lib.ones(2), True)
    x = lib.ones(2)
    b = lib.Tensor._make_subclass(A, x)
    b.add_(1)
    return [type(a).__name__, a.requires_grad, a.is_leaf, x.tolist()]


def handler_returns_a_plain_tensor(lib):
    class Forgetful(lib.Tensor):
        __torch_function__ = lib._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, inner):
            return lib.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __init__(self, inner):
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*[a.inner if isinstance(a, cls) else a for a in args], **(kwargs or {}))

    return [type(Forgetful(lib.ones(2)) + 1).__name__, Forgetful(lib.ones(2)) + 1]


def wrapper_that_refuses(lib):
    class No(lib.Tensor):
        __torch_function__ = lib._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls):
            return lib.Tensor._make_wrapper_subclass(cls, (2,))

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    lib.add(No(), 1)


def in_place_reshaping_of_a_wrapper(lib):
    W = wrapper(lib, [], correct=True)
    w = W(lib.ones(2, 3))
    w.t_()
    w.unsqueeze_(0)
    return [tuple(w.shape), w.stride(), tuple(w.inner.shape)]


def wrong_unflattening(lib):
    W = wrapper(lib, [])
    W.__tensor_flatten__ = lambda self: (["inner"], None)
    W.__tensor_unflatten__ = staticmethod(lambda inner, context, size, stride: W(inner["inner"][:1]))
    part(lib, "utils._python_dispatch").transform_subclass(W(lib.ones(2)), lambda name, inner: inner)


PROGRAMS = functions_of_a_library(globals())
