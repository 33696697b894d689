"""torch.profiler beside ours: the same events under the same names, the same windows, the same complaints."""
import warnings

import pytest

torch = pytest.importorskip("torch")

import teachtorch  # noqa: E402

ENGINES = (torch, teachtorch)


def recorded(engine, work, **options):
    P = engine.profiler
    with P.profile(activities=[P.ProfilerActivity.CPU], **options) as prof:
        work(engine)
    return prof


def outermost(prof):
    """Names of the events that are in no other, without what only one of the engines needs for itself."""
    return [e.name for e in prof.events() if e.cpu_parent is None]


CALLS = {
    "linear": lambda t, x, w: t.nn.functional.linear(x, w),
    "cross_entropy": lambda t, x, w: t.nn.functional.cross_entropy(x, w[:2, 0].long()),
    "reshape": lambda t, x, w: x.reshape(3, 2),
    "copying_reshape": lambda t, x, w: x.mT.reshape(6),
    "flatten": lambda t, x, w: x.flatten(),
    "matmul": lambda t, x, w: x @ x.mT,
    "square": lambda t, x, w: t.square(x),
    "power": lambda t, x, w: x ** 2,
    "softmax": lambda t, x, w: t.softmax(x, 1),
    "log_softmax": lambda t, x, w: t.nn.functional.log_softmax(x, 1),
    "dropout": lambda t, x, w: t.nn.functional.dropout(x),
    "layer_norm": lambda t, x, w: t.nn.functional.layer_norm(x, (3,)),
    "batch_norm": lambda t, x, w: t.nn.functional.batch_norm(x, None, None, training=True),
    "mse": lambda t, x, w: t.nn.functional.mse_loss(x, x),
    "nll": lambda t, x, w: t.nn.functional.nll_loss(x, w[:2, 0].long()),
    "bce": lambda t, x, w: t.nn.functional.binary_cross_entropy_with_logits(x, x),
    "gelu": lambda t, x, w: t.nn.functional.gelu(x),
    "attention": lambda t, x, w: t.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
    "conv2d": lambda t, x, w: t.nn.functional.conv2d(x[None, None], w[None, None, :2, :2]),
    "max_pool2d": lambda t, x, w: t.nn.functional.max_pool2d(x[None], 2),
    "cat": lambda t, x, w: t.cat([x, x]),
    "stack": lambda t, x, w: t.stack([x, x]),
    "where": lambda t, x, w: t.where(x > 0, x, x),
    "to": lambda t, x, w: x.to(t.float64),
    "double": lambda t, x, w: x.double(),
    "item": lambda t, x, w: x.sum().item(),
    "index": lambda t, x, w: x[0, 1:],
    "unbind": lambda t, x, w: x.unbind(0),
    "chunk": lambda t, x, w: x.chunk(2),
    "einsum": lambda t, x, w: t.einsum("ij,kj->ik", x, w),
    "in place": lambda t, x, w: x.add_(1),
    "zeros": lambda t, x, w: t.zeros(3),
    "randn": lambda t, x, w: t.randn(3),
    "arange": lambda t, x, w: t.arange(3),
    "topk": lambda t, x, w: x.topk(2),
    "rsub": lambda t, x, w: 1 - x,
}
OF_ONE_ENGINE = {"aten::broadcast_tensors"}              # torch's mse_loss calls it from Python


@pytest.mark.parametrize("call", CALLS)
def test_the_outermost_events_have_torchs_names(call):
    found = []
    for engine in ENGINES:
        x, w = engine.ones(2, 3), engine.zeros(4, 3)
        prof = recorded(engine, lambda t, x=x, w=w: CALLS[call](t, x, w))
        found.append([name for name in outermost(prof) if name not in OF_ONE_ENGINE])
    assert found[0] == found[1]


def test_a_training_step_has_torchs_names_of_nodes_and_parts():
    found = []
    for engine in ENGINES:
        nn = engine.nn
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        optimizer = engine.optim.SGD(model.parameters(), lr=0.1)

        def step(t, model=model, optimizer=optimizer):
            model(t.ones(2, 3)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        prof = recorded(engine, step)
        found.append({(e.key, e.count) for e in prof.key_averages()
                      if "Backward" in e.key or "Optimizer" in e.key or "AccumulateGrad" in e.key})
    assert found[0] == found[1] and len(found[0]) > 8


def test_sequence_numbers_pair_the_same_operators_and_nodes():
    found = []
    for engine in ENGINES:
        x = engine.ones(2, 3, requires_grad=True)
        prof = recorded(engine, lambda t, x=x: (x.exp() * 2).sum().backward())
        pairs, made = set(), {}
        for event in prof.events():
            if event.name.startswith("aten::") and event.cpu_parent is None:
                made.setdefault(event.sequence_nr, event.name)
            elif event.name.endswith("Backward0") and not event.name.startswith("autograd::"):
                pairs.add((made.get(event.sequence_nr), event.name))
        found.append(pairs)
    assert found[1] == {("aten::exp", "ExpBackward0"), ("aten::mul", "MulBackward0"), ("aten::sum", "SumBackward0")}
    assert found[1] == found[0]


@pytest.mark.parametrize("call,name", [(lambda t: t.ones(5, 6) @ t.ones(6, 7), "aten::mm"),
                                       (lambda t: t.ones(5, 6) * t.ones(5, 6), "aten::mul"),
                                       (lambda t: t.addmm(t.ones(7), t.ones(5, 6), t.ones(6, 7)), "aten::addmm"),
                                       (lambda t: t.bmm(t.ones(2, 5, 6), t.ones(2, 6, 7)), "aten::bmm"),
                                       (lambda t: t.nn.functional.conv2d(t.ones(2, 3, 9, 9), t.ones(4, 3, 3, 2), stride=2,
                                                                         padding=1), "aten::conv2d")])
def test_flops_are_torchs(call, name):
    counts = [{a.key: a.flops for a in recorded(engine, call, with_flops=True, record_shapes=True).key_averages()}[name]
              for engine in ENGINES]
    assert counts[0] == counts[1] > 0


def test_shapes_are_torchs():
    found = []
    for engine in ENGINES:
        x = engine.ones(2, 3)
        prof = recorded(engine, lambda t, x=x: (x.mul(x), t.cat([x, x]).mm(x.mT)), record_shapes=True)
        found.append([[e.input_shapes[0], e.name] for e in prof.events() if e.name in ("aten::mul", "aten::mm")])
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_schedules_are_torchs():
    for wait in (0, 1, 2):
        for warmup in (0, 1):
            for active in (1, 3):
                for extra in (
                    {},
                    {"repeat": 2},
                    {"skip_first": 3},
                    {"repeat": 1, "skip_first": 2, "skip_first_wait": 1},
                ):
                    made = [engine.profiler.schedule(wait=wait, warmup=warmup, active=active, **extra)
                            for engine in ENGINES]
                    actions = [[action(step).name for step in range(20)] for action in made]
                    assert actions[0] == actions[1]


def windows(engine, choose, steps):
    P, found = engine.profiler, []

    def ready(prof):
        found.append((prof.step_num, [e.key for e in prof.key_averages() if e.key.startswith("aten::mul")],
                      sum([e.name == "aten::mul" for e in prof.events()])))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with P.profile(activities=[P.ProfilerActivity.CPU], schedule=choose(P), on_trace_ready=ready) as prof:
            for _ in range(steps):
                engine.mul(engine.ones(2), 3)
                prof.step()
    return found, [str(w.message) for w in warned if "Incorrect schedule" in str(w.message)]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("options,steps", [(dict(wait=1, warmup=1, active=2), 10), (dict(wait=0, warmup=1, active=1), 3),
                                           (dict(wait=2, warmup=1, active=3, repeat=1), 5),
                                           (dict(wait=0, warmup=0, active=2, skip_first=1), 6)])
def test_windows_are_torchs(options, steps):
    found = [windows(engine, lambda P: P.schedule(**options), steps) for engine in ENGINES]
    assert found[0] == found[1]


@pytest.mark.parametrize("names", ["RECORD NONE RECORD_AND_SAVE NONE",
                                   "RECORD_AND_SAVE RECORD_AND_SAVE NONE NONE"])
def test_odd_schedules_do_what_they_do_in_torch(names):
    def choose(P):
        actions = [P.ProfilerAction[name] for name in names.split()]
        return lambda step: actions[min(step, len(actions) - 1)]
    found = [windows(engine, choose, 4) for engine in ENGINES]
    assert found[0] == found[1]


def complaint(work):
    try:
        work()
    except Exception as error:
        return type(error).__name__, str(error)
    return None


@pytest.mark.parametrize("work", [
    lambda P: P.profile(activities=[P.ProfilerActivity.CPU]).events(),
    lambda P: P.profile(activities=[P.ProfilerActivity.CPU]).key_averages(),
    lambda P: P.profile(activities=[]),
    lambda P: P.schedule(wait=0, warmup=0, active=0),
    lambda P: P.schedule(wait=0, warmup=1, active=1)(-1),
    lambda P: P.profile(activities=[P.ProfilerActivity.CPU]).stop(),
])
def test_complaints_are_torchs(work):
    found = [complaint(lambda engine=engine: work(engine.profiler)) for engine in ENGINES]
    assert found[0] == found[1] is not None


def test_the_older_interface_is_torchs():
    found = []
    for engine in ENGINES:
        legacy = engine.autograd.profiler
        with legacy.profile() as prof, legacy.record_function("block"):
            engine.ones(2) * 3
        again = complaint(prof.__enter__)
        with legacy.profile(enabled=False) as off:
            pass
        names = [e.name for e in prof.function_events if e.cpu_parent is None or e.cpu_parent.name == "block"]
        found.append((names, again, off, "Self CPU" in prof.table(), prof.total_average().key))
    assert found[0] == found[1]


def test_the_columns_of_a_table_are_torchs():
    titles = []
    for engine in ENGINES:
        prof = recorded(engine, lambda t: t.ones(3, 3) @ t.ones(3, 3), record_shapes=True, profile_memory=True)
        head = prof.key_averages(group_by_input_shape=True).table().splitlines()[1]
        titles.append([title.strip() for title in head.split("  ") if title.strip()])
    assert titles[0] == titles[1]


def test_memory_of_results_is_torchs():
    found = []
    for engine in ENGINES:
        x = engine.ones(8, 8)
        prof = recorded(engine, lambda t, x=x: (x + x, t.cat([x, x]), x.add_(x), x.view(4, 16), t.zeros(10)),
                        profile_memory=True)
        found.append({e.key: e.cpu_memory_usage for e in prof.key_averages()
                      if e.key in ("aten::add", "aten::cat", "aten::add_", "aten::view", "aten::zeros")})
    assert found[0] == found[1]


def test_a_gpu_that_is_not_there_is_warned_of():
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    for engine in ENGINES:
        P = engine.profiler
        with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"), \
                P.profile(activities=[P.ProfilerActivity.CPU, P.ProfilerActivity.CUDA]) as prof:
            engine.ones(3)
        assert prof.events()[0].name == "aten::ones"
        with pytest.warns(UserWarning, match="CUDA"), pytest.raises(AssertionError, match="No activities specified"):
            P.profile(activities=[P.ProfilerActivity.CUDA]).start()


def test_what_was_not_recorded_looks_as_in_torch():
    found = []
    for engine in ENGINES:
        prof = recorded(engine, lambda t: t.ones(3))
        event, average = prof.events()[0], prof.key_averages()[0]
        found.append((event.input_shapes, event.stack, event.flops or 0, average.input_shapes, average.stack))
    assert found[0] == found[1]
