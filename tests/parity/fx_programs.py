"""Programs of torch.fx: what graphs and their classes offer, and what they say where it does not fit."""

import contextlib
import copy
import importlib
import io
import operator
import os
import pickle
import tempfile

from tests.parity.collected import functions_of_a_library


def fx_of(lib):
    return importlib.import_module(lib.__name__ + ".fx")


def small(lib):
    class Small(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = lib.nn.Linear(2, 3)
            self.block = lib.nn.Sequential(lib.nn.Linear(3, 3), lib.nn.ReLU())
            self.scale = lib.nn.Parameter(lib.ones(3))
            self.register_buffer("shift", lib.zeros(3))

        def forward(self, x, flag=True):
            y = self.lin(x)
            z = lib.relu(y) + self.scale * self.shift
            return self.block(z).sum(-1), y.view(-1)

    lib.manual_seed(0)
    return Small()


def traced(lib):
    return fx_of(lib).symbolic_trace(small(lib))


def printed(call):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        call()
    return out.getvalue()


# ---- Graph -----------------------------------------------------------------------------------------------------------


def code_and_text(lib):
    m = traced(lib)
    return [m.code, str(m.graph)]


def found_nodes(lib):
    g = traced(lib).graph
    return [
        [n.name for n in g.find_nodes(op="call_module")],
        [n.name for n in g.find_nodes(op="call_module", target="lin")],
        [n.name for n in g.find_nodes(op="call_function", target=operator.add, sort=False)],
        [n.name for n in g.find_nodes(op="placeholder")],
        g.find_nodes(op="call_method", target="nothing"),
        g.output_node().name,
    ]


def find_nodes_by_place(lib):
    return traced(lib).graph.find_nodes("call_module")


def no_output_node(lib):
    return fx_of(lib).Graph().output_node()


def node_copied(lib):
    g, new = traced(lib).graph, fx_of(lib).Graph()
    made = {}
    for node in g.nodes:
        made[node] = new.node_copy(node, lambda n: made[n])
        made[node].meta["kept"] = True
    return [str(new), [sorted(n.meta) for n in g.nodes] == [sorted(set(n.meta) - {"kept"}) for n in new.nodes]]


def node_copied_without_transform(lib):
    g, new = traced(lib).graph, fx_of(lib).Graph()
    for node in g.nodes:
        new.node_copy(node)
    new.lint()


def graph_copied(lib):
    g, new = traced(lib).graph, fx_of(lib).Graph()
    values = {}
    result = new.graph_copy(g, values)
    new.output(result)
    new.lint()
    return [str(new), len(values), type(result).__name__]


def graph_copied_with_its_output(lib):
    g, new = traced(lib).graph, fx_of(lib).Graph()
    result, node = new.graph_copy(g, {}, return_output_node=True)
    return [[n.name for n in result], node.op]


def deeply_copied(lib):
    g = traced(lib).graph
    new = copy.deepcopy(g)
    return [str(new) == str(g), new.owning_module is None, [a is b for a, b in zip(g.nodes, new.nodes)][:1]]


def erased(lib):
    g = traced(lib).graph
    g.erase_node(next(iter(g.nodes)))


def erased_twice(lib):
    g = fx_of(lib).Graph()
    x = g.placeholder("x")
    g.erase_node(x)
    g.erase_node(x)


def erased_elsewhere(lib):
    g = fx_of(lib).Graph()
    fx_of(lib).Graph().erase_node(g.placeholder("x"))


def inserted_in_another_graph(lib):
    g, other = fx_of(lib).Graph(), fx_of(lib).Graph()
    with g.inserting_before(other.placeholder("x")):
        pass


def inserted(lib):
    g = fx_of(lib).Graph()
    x = g.placeholder("x")
    y = g.call_function(lib.neg, (x,))
    with g.inserting_before(y):
        a = g.call_function(lib.relu, (x,))
    with g.inserting_after(y):
        b = g.call_method("abs", (y,))
    with g.inserting_before():
        g.placeholder("first")
    with g.inserting_after():
        g.placeholder("very_first")
    g.output((a, b))
    g.lint()
    return str(g)


def names(lib):
    g = fx_of(lib).Graph()
    for name in ("x", "x", "x_1", "x_1", "class", "1a", "a.b", "sum", "torch", "inf", "None", "_x", "X", "x_", "__x__"):
        g.placeholder(name)
    for target in ("view", "__add__", "getitem", "add_", "x"):
        g.call_method(target)
    for function in (
        lib.add,
        operator.add,
        operator.getitem,
        lib.nn.functional.relu,
        getattr,
        len,
        lib.Tensor.view,
        operator.and_,
    ):
        g.call_function(function)
    for target in ("layer.0", "a.b.c", "Layer", "layer.0"):
        g.get_attr(target)
        g.call_module(target)
    return [n.name for n in g.nodes]


def name_asked_for(lib):
    g = fx_of(lib).Graph()
    return [
        g.create_node("call_function", lib.add, name="my.name").name,
        g.create_node("placeholder", "y", name="z").name,
        g.call_function(lib.add, name="given").name,
    ]


def placeholder_defaults(lib):
    g = fx_of(lib).Graph()
    nodes = [
        g.placeholder("a"),
        g.placeholder("b", default_value=None),
        g.placeholder("c", int, 3),
        g.placeholder("d", default_value=(1, 2)),
    ]
    g.output(nodes[0])
    return [[repr(n.args) for n in nodes], g.python_code("self").src]


def wrong_op(lib):
    fx_of(lib).Graph().create_node("call_nothing", "x")


def wrong_arguments(lib):
    fx_of(lib).Graph().create_node("call_function", lib.add, [1])


def wrong_keywords(lib):
    fx_of(lib).Graph().create_node("call_function", lib.add, (), [1])


def text_for_a_function(lib):
    fx_of(lib).Graph().call_function("add")


def dead_code(lib):
    g = fx_of(lib).Graph()
    x = g.placeholder("x")
    g.call_function(lib.neg, (x,))
    g.call_function(lib._assert, (x, "no"))
    g.output(x)
    return [g.eliminate_dead_code(), str(g), g.eliminate_dead_code()]


def dead_code_by_a_rule(lib):
    g = fx_of(lib).Graph()
    x = g.placeholder("x")
    g.call_function(lib.neg, (x,))
    g.call_function(lib.relu, (x,))
    g.output(x)
    return [g.eliminate_dead_code(lambda n: n.target is lib.neg), str(g)]


def dead_random(lib):
    g = fx_of(lib).Graph()
    x = g.placeholder("x")
    g.call_function(lib.rand_like, (x,))
    g.call_function(lib.nn.functional.dropout, (x,))
    g.output(x)
    return [[n.is_impure() for n in g.nodes], g.eliminate_dead_code()]


def lint_order(lib):
    g = traced(lib).graph
    nodes = list(g.nodes)
    nodes[-2].append(nodes[2])
    try:
        g.lint()
    except RuntimeError as error:
        return str(error).partition("\n")[0]


def lint_target(lib):
    m = traced(lib)
    del m.lin
    m.graph.lint()


def lint_submodule(lib):
    m = traced(lib)
    with m.graph.inserting_before(m.graph.output_node()):
        m.graph.call_module("scale")
    m.graph.lint()


def missing_attribute(lib):
    m = traced(lib)
    with m.graph.inserting_before(m.graph.output_node()):
        return m.graph.get_attr("nothing").name


def verbose_code(lib):
    m = traced(lib)
    return m.graph.python_code("self", verbose=True).src


def stack_of_modules(lib):
    """Which modules each call stands in."""
    m = traced(lib)
    return [
        [n.name, [[k, v[0], getattr(v[1], "__name__", v[1])] for k, v in n.meta.get("nn_module_stack", {}).items()]]
        for n in m.graph.nodes
    ]


def stacks_and_sources(lib):
    m = traced(lib)
    return [sorted(set(n.meta) - {"stack_trace"}) for n in m.graph.nodes]


def generated_lines_changed(lib):
    m = traced(lib)
    with m.graph.on_generate_code(lambda present: lambda lines: ["pass  # first\n", *lines]):
        m.recompile()
        inside = "# first" in m.code
    m.recompile()
    return [inside, "# first" in m.code]


# ---- Node ------------------------------------------------------------------------------------------------------------


def users_and_inputs(lib):
    return [
        [
            n.name,
            [u.name for u in n.users],
            [i.name for i in n.all_input_nodes],
            n.next.name if n.op != "output" else "",
            n.op,
            repr(n.args),
            repr(n.kwargs),
        ]
        for n in traced(lib).graph.nodes
    ]


def formatted(lib):
    return [n.format_node() for n in traced(lib).graph.nodes]


def formatted_parts(lib):
    found, returned = [], [""]
    for n in traced(lib).graph.nodes:
        found.append(n.format_node(placeholder_names := [], returned))
        found.append(placeholder_names)
    return [found, returned]


def replaced(lib):
    g = traced(lib).graph
    x = g.find_nodes(op="call_module", target="lin")[0]
    with g.inserting_after(x):
        new = g.call_function(lib.neg, (x,))
    changed = x.replace_all_uses_with(new, lambda user: user is not new)
    g.lint()
    return [[n.name for n in changed], str(g)]


def replaced_with_meta(lib):
    g = fx_of(lib).Graph()
    x = g.placeholder("x")
    y, z = g.call_function(lib.neg, (x,)), g.call_function(lib.abs, (x,))
    y.meta["a"] = 1
    z.meta["b"] = 2
    return y.replace_all_uses_with(z, propagate_meta=True)


def replaced_input(lib):
    g = fx_of(lib).Graph()
    x, y = g.placeholder("x"), g.placeholder("y")
    z = g.call_function(lib.add, (x, [x, {"a": x}]), {"alpha": x})
    z.replace_input_with(x, y)
    return [repr(z.args), repr(z.kwargs), len(x.users), len(y.users)]


def arguments_changed(lib):
    g = fx_of(lib).Graph()
    x, y = g.placeholder("x"), g.placeholder("y")
    z = g.call_function(lib.add, (x,))
    z.insert_arg(0, y)
    z.update_arg(1, 3)
    z.update_kwarg("alpha", 2)
    return [repr(z.args), repr(z.kwargs), len(x.users), len(y.users)]


def argument_inserted_too_far(lib):
    g = fx_of(lib).Graph()
    g.call_function(lib.add, (g.placeholder("x"),)).insert_arg(5, 1)


def argument_list_is_fixed(lib):
    g = fx_of(lib).Graph()
    g.call_function(lib.cat, ([g.placeholder("x")],)).args[0].append(1)


def argument_dict_is_fixed(lib):
    g = fx_of(lib).Graph()
    g.call_function(lib.cat, ({"a": g.placeholder("x")},)).args[0]["b"] = 1


def order_of_nodes(lib):
    a, b, *_ = traced(lib).graph.nodes
    return [a < b, b < a, a <= b, b > a, a <= a, a < a]


def prepended_elsewhere(lib):
    a, b = fx_of(lib).Graph().placeholder("a"), fx_of(lib).Graph().placeholder("b")
    a.prepend(b)


def prepended_to_itself(lib):
    a = fx_of(lib).Graph().placeholder("a")
    a.prepend(a)
    return len(a.graph.nodes)


def appended(lib):
    g = fx_of(lib).Graph()
    a, b, c = [g.placeholder(n) for n in "abc"]
    a.append(c)
    a.prepend(b)
    return [n.name for n in g.nodes]


def renamed(lib):
    g = fx_of(lib).Graph()
    a, b = g.placeholder("a"), g.placeholder("b")
    b.name = "c"
    return [repr(b), g.placeholder("b").name]


def normalized(lib):
    m = traced(lib)
    node = m.graph.find_nodes(op="call_module", target="lin")[0]
    found = node.normalized_arguments(m)
    return [repr(found.args), {k: repr(v) for k, v in found.kwargs.items()}]


def purity(lib):
    return [[n.name, n.is_impure()] for n in traced(lib).graph.nodes]


def stack_trace_set(lib):
    g = fx_of(lib).Graph()
    x = g.placeholder("x")
    x.stack_trace = "here"
    return [x.stack_trace, x.meta]


# ---- GraphModule -----------------------------------------------------------------------------------------------------


def module_text(lib):
    m = traced(lib)
    return [str(m).splitlines()[0], type(m).__name__, type(m).__mro__[1].__name__, m.training]


def readable(lib):
    return traced(lib).print_readable(print_output=False)


def graph_of_another_type(lib):
    traced(lib).graph = 3


def root_of_another_type(lib):
    fx_of(lib).GraphModule(3, fx_of(lib).Graph())


def from_a_dict(lib):
    g = fx_of(lib).Graph()
    x = g.placeholder("x")
    g.output(g.call_module("a.lin", (g.call_function(lib.add, (x, g.get_attr("w"))),)))
    m = fx_of(lib).GraphModule({"a.lin": lib.nn.ReLU(), "w": lib.ones(2)}, g, "Named")
    return [
        m(lib.tensor([-3.0, 1.0])),
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_buffers()],
        type(m).__name__,
    ]


def from_an_incomplete_dict(lib):
    g = fx_of(lib).Graph()
    g.output(g.get_attr("w"))
    fx_of(lib).GraphModule({"v": lib.ones(2)}, g)


def submodules_added(lib):
    m = traced(lib)
    return [
        m.add_submodule("x.y.z", lib.nn.ReLU()),
        m.add_submodule("scale.z", lib.nn.ReLU()),
        m.delete_submodule("x.y.z"),
        m.delete_submodule("x.nothing"),
        m.delete_submodule("scale"),
        [n for n, _ in m.named_modules()],
    ]


def unused_submodules(lib):
    m = traced(lib)
    m.add_submodule("unused.inner", lib.nn.ReLU())
    m.delete_all_unused_submodules()
    return [n for n, _ in m.named_modules()]


def copies(lib):
    m = traced(lib)
    x = lib.ones(1, 2)
    m.meta["a"] = 1
    one, two = copy.copy(m), copy.deepcopy(m)
    return [
        one.lin is m.lin,
        two.lin is m.lin,
        one(x)[0],
        two(x)[0],
        one.meta,
        two.meta,
        two.code == m.code,
        type(two).__name__,
    ]


def pickled(lib):
    m = traced(lib)
    new = pickle.loads(pickle.dumps(m))
    return [new(lib.ones(1, 2))[0], new.code == m.code, type(new).__name__]


def written_to_a_folder(lib):
    """The folder holds a package that makes the module again."""
    import sys

    m = traced(lib)
    with tempfile.TemporaryDirectory() as folder:
        place = os.path.join(folder, f"written_by_{lib.__name__}")
        m.to_folder(place, "Written")
        files = sorted(os.listdir(place))
        sys.path.insert(0, folder)
        try:
            package = importlib.import_module(f"written_by_{lib.__name__}")
            found = package.Written()(lib.ones(1, 2))
        finally:
            sys.path.remove(folder)
            for name in [name for name in sys.modules if name.startswith("written_by_")]:
                del sys.modules[name]
        return [files, found[0], type(package).__name__]


def called_wrongly(lib):
    traced(lib)()


# ---- Interpreter, Transformer ----------------------------------------------------------------------------------------


def interpreted(lib):
    m = traced(lib)
    log = []

    class Logging(fx_of(lib).Interpreter):
        def run_node(self, n):
            log.append([n.name, n.op])
            return super().run_node(n)

        def call_function(self, target, args, kwargs):
            return super().call_function(target, args, kwargs) * 2

    x = lib.ones(1, 2)
    found = Logging(m).run(x)
    return [found[0], log, Logging(m).boxed_run([x, True])[0]]


def interpreted_from_the_middle(lib):
    m = traced(lib)
    lin = m.graph.find_nodes(op="call_module", target="lin")[0]
    return fx_of(lib).Interpreter(m).run(lib.ones(1, 2), initial_env={lin: lib.ones(1, 3)})[1]


def interpreted_keeping_values(lib):
    m = traced(lib)
    kept, gone = fx_of(lib).Interpreter(m, garbage_collect_values=False), fx_of(lib).Interpreter(m)
    kept.run(lib.ones(1, 2))
    gone.run(lib.ones(1, 2))
    return [[n.name for n in kept.env], len(gone.env) < len(kept.env), sorted(kept.submodules), kept.name]


def interpreted_with_too_few(lib):
    fx_of(lib).Interpreter(traced(lib)).run()


def interpreted_with_an_error(lib):
    return fx_of(lib).Interpreter(traced(lib)).run(lib.ones(1, 5))


def interpreted_missing_attribute(lib):
    m = traced(lib)
    del m.scale
    return fx_of(lib).Interpreter(m).run(lib.ones(1, 2))


def transformed(lib):
    class Negate(fx_of(lib).Transformer):
        def call_function(self, target, args, kwargs):
            if target is operator.add:
                return super().call_function(operator.sub, args, kwargs)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return super().call_method("flatten", args[:1], kwargs)

    m = traced(lib)
    new = Negate(m).transform()
    return [new.code, new(lib.ones(1, 2))[0], new.lin is m.lin]


# ---- Tracer, Proxy, wrap ---------------------------------------------------------------------------------------------


def own_leaves(lib):
    class Tracer(fx_of(lib).Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return module_qualified_name == "block" or super().is_leaf_module(m, module_qualified_name)

    return str(Tracer().trace(small(lib)))


def no_leaves(lib):
    class Tracer(fx_of(lib).Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return False

    return str(Tracer().trace(small(lib)))


def buffers_as_nodes(lib):
    class Tracer(fx_of(lib).Tracer):
        proxy_buffer_attributes = True

    return str(Tracer().trace(small(lib)))


def shapes_of_parameters(lib):
    class Sized(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = lib.nn.Parameter(lib.ones(2, 3))

        def forward(self, x):
            return x.view(self.w.shape[0], self.w.size(1), self.w.ndim, self.w.numel()) if self.w.shape == (2, 3) else x

    Tracer = fx_of(lib).Tracer
    return str(Tracer(param_shapes_constant=True).trace(Sized()))


def shapes_of_parameters_unknown(lib):
    class Sized(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = lib.nn.Parameter(lib.ones(2, 3))

        def forward(self, x):
            return x.view(self.w.shape[0], -1)

    return str(fx_of(lib).Tracer().trace(Sized()))


def mutation_of_a_parameter(lib):
    class Changing(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = lib.nn.Parameter(lib.ones(2))

        def forward(self, x):
            return self.w.add_(x)

    return str(fx_of(lib).Tracer().trace(Changing()))


def fresh_names(lib):
    tracer = fx_of(lib).Tracer()
    tracer.trace(small(lib))
    return [
        tracer.get_fresh_qualname("_tensor_constant"),
        tracer.get_fresh_qualname("lin"),
        tracer.get_fresh_qualname("new"),
    ]


def name_of_the_traced(lib):
    tracer = fx_of(lib).Tracer()
    tracer.trace(small(lib))
    return [tracer.traced_func_name, type(tracer.root).__name__]


def own_proxies(lib):
    class Mine(fx_of(lib).Proxy):
        pass

    class Tracer(fx_of(lib).Tracer):
        def proxy(self, node):
            return Mine(node, self)

    seen = []

    def f(x):
        seen.append(type(x + 1).__name__)
        return x

    Tracer().trace(f)
    return seen


def made_by_a_factory(lib):
    class Mine(fx_of(lib).Proxy):
        pass

    tracer = fx_of(lib).Tracer()
    tracer.trace(lambda x: x)
    made = tracer.create_proxy("call_function", lib.neg, (), {}, proxy_factory_fn=lambda node: Mine(node, tracer))
    return [type(made).__name__, made.node.name]


def in_place_on_proxies(lib):
    def f(x, y):
        x += y
        y *= 2
        return x, y, -x, x @ y, 3 - x, 2**x, x[0], x[1:, None]

    return fx_of(lib).symbolic_trace(f).code


def loops(lib):
    return fx_of(lib).symbolic_trace(lambda x: [a for a in x])


def star_of_a_proxy(lib):
    return fx_of(lib).symbolic_trace(lambda x: lib.cat([*x]))


def branch(lib):
    def f(x):
        if x.sum() > 0:
            return x
        return -x

    return fx_of(lib).symbolic_trace(f)


def length(lib):
    return fx_of(lib).symbolic_trace(lambda x: len(x))


def item_assignment(lib):
    def f(x):
        x[0] = 1
        return x

    return fx_of(lib).symbolic_trace(f)


def index_of_a_range(lib):
    return fx_of(lib).symbolic_trace(lambda x: range(x))


def unpacked(lib):
    def f(x):
        a, b = x
        return a + b

    return fx_of(lib).symbolic_trace(f).code


def keyword_arguments(lib):
    def f(x, *args, k=2, **kwargs):
        return lib.add(x, args[0], alpha=k), kwargs["a"]

    return fx_of(lib).symbolic_trace(f).code


def concrete(lib):
    def f(x, flag, n=None):
        return x + 1 if flag else x - (n or 2)

    m = fx_of(lib).symbolic_trace(f, concrete_args={"flag": False, "n": None})
    found = [m.code]
    try:
        m(lib.ones(1), True, None)
    except AssertionError as error:
        found.append(str(error))
    return found


def not_installed(lib):
    class Hidden(lib.nn.Module):
        def forward(self, x):
            return lib.nn.Linear(1, 1)(x)

    return fx_of(lib).symbolic_trace(Hidden())


def wrapped_in_a_function(lib):
    fx_of(lib).wrap("len")


def wrapped_a_number(lib):
    fx_of(lib).wrap(3)


def traced_a_class(lib):
    fx_of(lib).symbolic_trace(dict)


def argument_that_cannot_stand_in_a_graph(lib):
    class Odd:
        pass

    return fx_of(lib).symbolic_trace(lambda x: lib.add(x, Odd()))


def key_of_a_dict(lib):
    return fx_of(lib).symbolic_trace(lambda x: lib.cat({x: 1}))


def two_tracers(lib):
    a, b = [fx_of(lib).Proxy(fx_of(lib).Graph().placeholder("x")) for _ in range(2)]
    return a.tracer is b.tracer or lib.add(a, b)


def proxies_by_hand(lib):
    g = fx_of(lib).Graph()
    x = fx_of(lib).Proxy(g.placeholder("x"))
    y = lib.relu(x + 1).view(2, -1)
    g.output(y.node)
    return [str(g), repr(x), repr(y)]


def side_effects(lib):
    fx = fx_of(lib)

    @fx.has_side_effect
    def noted(x):
        return x

    g = fx.Graph()
    x = g.placeholder("x")
    node = g.call_function(noted, (x,))
    g.output(x)
    return [node.is_impure(), g.eliminate_dead_code()]


def mapped(lib):
    fx = fx_of(lib)
    g = fx.Graph()
    x = g.placeholder("x")
    return repr(fx.map_arg(([x, 1], {"a": x}, slice(x, None)), lambda n: n.name))


def public_names(lib):
    fx = fx_of(lib)
    return [name for cls in PUBLIC for name in PUBLIC[cls] if not hasattr(getattr(fx, cls) if cls else fx, name)]


PUBLIC = {
    "": [
        "CodeGen",
        "Graph",
        "GraphModule",
        "Interpreter",
        "Node",
        "Proxy",
        "ProxyableClassMeta",
        "Tracer",
        "Transformer",
        "PH",
        "has_side_effect",
        "immutable_collections",
        "map_arg",
        "replace_pattern",
        "symbolic_trace",
        "wrap",
        "operator_schemas",
        "experimental",
        "graph",
        "graph_module",
        "interpreter",
        "node",
        "passes",
        "proxy",
        "subgraph_rewriter",
    ],
    "GraphModule": [
        "to_folder",
        "add_submodule",
        "code",
        "delete_all_unused_submodules",
        "graph",
        "print_readable",
        "recompile",
    ],
    "Tracer": [
        "check_mutable_operations",
        "get_fresh_qualname",
        "traced_func_name",
        "trace_asserts",
        "record_stack_traces",
        "proxy_buffer_attributes",
    ],
}
PROGRAMS = functions_of_a_library(globals(), but=("fx_of", "small", "traced"))
