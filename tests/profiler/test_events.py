"""What is recorded: which events, how they lie in time, what they come to when added up."""
import threading
from sys import getrefcount

import pytest

import teachtorch as torch
from teachtorch import profiler
from teachtorch.core import observer
from teachtorch.profiler import profile, record_function


def recorded(work, **options):
    with profile(activities=[profiler.ProfilerActivity.CPU], **options) as prof:
        work()
    return prof


def names(prof):
    return [event.name for event in prof.events()]


def training_step():
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with record_function("step"):
        loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 6)), torch.tensor([0, 1, 2, 0]))
        loss.backward()
        optimizer.step()


def test_events_of_a_thread_nest_and_never_overlap():
    for event in recorded(training_step).events():
        children = event.cpu_children
        for child in children:
            assert event.start <= child.start <= child.end <= event.end
            assert child.cpu_parent is event
        for before, after in zip(children, children[1:]):
            assert before.end <= after.start


def test_events_are_in_the_order_in_which_they_began():
    events = recorded(training_step).events()
    assert [e.start for e in events] == sorted([e.start for e in events])


def test_self_times_add_up_to_the_outermost_totals():
    events = recorded(training_step).events()
    outer = sum([event.cpu_time_total for event in events if event.cpu_parent is None])
    assert events.self_cpu_time_total == pytest.approx(outer)
    assert all([event.self_cpu_time_total >= 0 for event in events])
    assert events.total_average().cpu_time_total == pytest.approx(outer)


def test_an_average_is_the_sum_over_the_number_of_calls():
    prof = recorded(training_step)
    events = [event for event in prof.events() if event.key == "aten::linear"]
    average = next(a for a in prof.key_averages() if a.key == "aten::linear")
    assert average.count == len(events) == 2
    assert average.cpu_time_total == pytest.approx(sum([event.cpu_time_total for event in events]))
    assert average.cpu_time == pytest.approx(average.cpu_time_total / 2)


def test_a_block_within_one_of_its_name_is_not_counted_twice():
    def work():
        with record_function("outer"), record_function("outer"):
            torch.ones(3) + 1
    prof = recorded(work)
    average = next(a for a in prof.key_averages() if a.key == "outer")
    assert average.count == 2
    assert average.cpu_time_total == prof.events()[0].cpu_time_total


def test_a_call_is_one_event_whatever_keys_it_passes():
    x = torch.ones(3, requires_grad=True)
    assert names(recorded(lambda: x * x)) == ["aten::mul"]
    assert names(recorded(lambda: x.detach() * 2)) in (["aten::mul"], ["aten::detach", "aten::mul"])


@pytest.mark.parametrize("failing", [lambda x: x @ torch.ones(7, 7),
                                     lambda x: torch.nn.functional.linear(x, x, x, x),
                                     lambda x: torch.nn.functional.cross_entropy(x, x.long() + 99)])
def test_an_error_ends_the_events_it_passes(failing):
    def work():
        with record_function("outer"):
            with pytest.raises((RuntimeError, TypeError, IndexError, ValueError)), record_function("failing"):
                failing(torch.ones(3, 4))
            with record_function("after"):
                torch.ones(3) + 1
    prof = recorded(work)
    events = {event.name: event for event in prof.events()}
    assert events["after"].cpu_parent is events["outer"]
    assert events["failing"].end <= events["after"].start
    assert events["aten::add"].cpu_parent is events["after"]


def test_an_error_that_leaves_the_block_still_gives_the_events():
    prof = profile(activities=[profiler.ProfilerActivity.CPU])
    with pytest.raises(ValueError, match="mine"), prof, record_function("block"):
        torch.ones(3) + 1
        raise ValueError("mine")
    assert names(prof) == ["block", "aten::ones", "aten::add"]
    x = torch.ones(3)
    assert names(recorded(lambda: x + 1)) == ["aten::add"]


def test_a_backward_hook_that_fails_leaves_the_events_nested():
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).sum()
    y.grad_fn.next_functions[0][0].register_hook(lambda *_: 1 / 0)

    def work():
        with pytest.raises(ZeroDivisionError):
            y.backward()
        with record_function("after"):
            x + 1
    prof = recorded(work)
    after = next(e for e in prof.events() if e.name == "after")
    assert after.cpu_parent is None


def test_threads_are_lanes_of_their_own():
    x, all_run = torch.ones(50, 50), threading.Barrier(3)

    def three_products():
        all_run.wait()                           # the number of a thread that has ended is used again
        [x @ x for _ in range(3)]
        all_run.wait()

    def work():
        threads = [threading.Thread(target=three_products) for _ in range(3)]
        for thread in threads:
            thread.start()
        x @ x
        for thread in threads:
            thread.join()
    events = [event for event in recorded(work).events() if event.name == "aten::mm"]
    lanes = {}
    for event in events:
        lanes.setdefault(event.thread, []).append(event)
        assert event.cpu_parent.thread == event.thread
    assert sorted([len(lane) for lane in lanes.values()]) == [1, 3, 3, 3]


def test_what_is_open_when_recording_ends_ends_then():
    prof = profile(activities=[profiler.ProfilerActivity.CPU])
    with record_function("before"):
        prof.start()
        inside = record_function("inside")
        inside.__enter__()
        prof.stop()
        inside.__exit__(None, None, None)
    assert names(prof) == ["inside"]
    assert prof.events()[0].end >= prof.events()[0].start


def test_shapes_are_those_of_the_arguments():
    x = torch.ones(2, 3)
    prof = recorded(lambda: (x @ torch.ones(3, 4), torch.cat([x, x])), record_shapes=True)
    shapes = {event.name: event.input_shapes for event in prof.events()}
    assert shapes["aten::mm"] == [[2, 3], [3, 4]]
    assert shapes["aten::cat"][0] == [[2, 3], [2, 3]]


def test_averages_can_be_kept_apart_by_shapes_and_stacks():
    a, b = torch.ones(2, 2), torch.ones(3, 3)

    def here():
        return a * a

    def there():
        return b * b
    prof = recorded(lambda: (here(), there(), here()), record_shapes=True, with_stack=True)
    assert [avg.count for avg in prof.key_averages()] == [3]
    by_shapes = prof.key_averages(group_by_input_shape=True)
    assert {str(avg.input_shapes): avg.count for avg in by_shapes} == {"[[2, 2], [2, 2]]": 2,
                                                                       "[[3, 3], [3, 3]]": 1}
    by_stack = prof.key_averages(group_by_stack_n=1)
    assert sorted([(avg.stack[0].rpartition(" ")[2], avg.count) for avg in by_stack]) == [("here", 2),
                                                                                          ("there", 1)]


def test_stacks_hold_the_users_lines_innermost_first():
    def inner():
        return torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3))

    stacks = [event.stack for event in recorded(inner, with_stack=True).events()]
    for stack in stacks:
        assert stack[0].endswith(": inner") and "test_events.py(" in stack[0]
        assert not any(["teachtorch/" in line for line in stack])


def test_memory_is_that_of_new_results():
    x, y = torch.ones(8, 8), torch.ones(8, 8)
    prof = recorded(lambda: (x + y, x.add_(y), x.t(), x[0], x.detach(), torch.ones(4)), profile_memory=True)
    found = {event.name: event.self_cpu_memory_usage for event in prof.events()}
    assert found.pop("aten::detach", 0) == 0
    assert found == {"aten::add": 256, "aten::add_": 0, "aten::t": 0, "aten::select": 0, "aten::ones": 16}


def test_a_function_has_the_memory_of_its_result_not_of_its_steps():
    x, y = torch.ones(4, 5), torch.tensor([0, 1, 2, 3])
    events = recorded(lambda: torch.nn.functional.cross_entropy(x, y), profile_memory=True).events()
    assert (events[0].name, events[0].cpu_memory_usage) == ("aten::cross_entropy_loss", 4)
    assert sum([event.self_cpu_memory_usage for event in events]) == 4


def test_a_block_has_the_memory_of_what_ran_in_it():
    x = torch.ones(8, 8)

    def work():
        with record_function("block"):
            x + x, x * x
    block = recorded(work, profile_memory=True).events()[0]
    assert (block.cpu_memory_usage, block.self_cpu_memory_usage) == (512, 0)


def test_the_options_cost_nothing_when_they_are_off():
    event = recorded(lambda: torch.ones(3)).events()[0]
    assert (event.input_shapes, event.stack, event.flops, event.cpu_memory_usage) == ([], [], 0, 0)


def test_workers_of_a_dataloader_are_not_recorded_and_their_batches_are():
    loader = torch.utils.data.DataLoader(torch.arange(8.0).reshape(4, 2), batch_size=2, num_workers=1)
    prof = recorded(lambda: [batch.sum() for batch in loader])
    counts = {average.key: average.count for average in prof.key_averages()}
    assert counts["enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"] == 3
    assert counts["aten::sum"] == 2
    assert "aten::stack" not in counts           # that is what the workers do


def test_nested_profiles_see_their_blocks():
    x = torch.ones(3)
    with profile() as outer:
        x + 1
        with profile() as inner:
            x * 2
        x - 1
    assert names(outer) == ["aten::add", "aten::mul", "aten::sub"]
    assert names(inner) == ["aten::mul"]


def test_nothing_is_recorded_after_the_block():
    x = torch.ones(3)
    prof = recorded(lambda: x + 1)
    x * 2
    assert names(prof) == ["aten::add"]


def test_record_function_decorates():
    @record_function("named")
    def function(x):
        "text"
        return x + 1
    x = torch.ones(2)
    prof = recorded(lambda: (function(x), function(x)))
    assert [(a.key, a.count) for a in prof.key_averages()] == [("named", 2), ("aten::add", 2)]
    assert (function.__name__, function.__doc__) == ("function", "text")
    assert prof.events()[0].is_user_annotation


def test_modes_of_the_user_still_see_functions_while_it_records():
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))
    x = torch.ones(2, 3)
    with Mode():
        prof = recorded(lambda: torch.nn.functional.softmax(x, dim=1))
    assert seen == ["softmax"]
    assert names(prof)[0] == "aten::softmax"


def test_recording_keeps_no_tensor_alive():
    x = torch.ones(3)

    def work():
        product = x * 2
        assert getrefcount(product) == without
    product = x * 2
    without = getrefcount(product)
    recorded(work, record_shapes=True, profile_memory=True, with_stack=True, with_flops=True)


def test_kernels_below_the_first_are_not_reported_to_who_asks_for_calls():
    seen, x = [], torch.ones(3, requires_grad=True)
    with observer.watching(lambda topic, fields: seen.append((topic, fields.get("op"), fields.get("phase"))),
                           "call", "node"):
        x * 2
    assert seen == [("call", "mul", "start"), ("node", None, None), ("call", "mul", "end")]
    with observer.watching(lambda topic, fields: seen.append(fields["key"]), "dispatch"):
        x * 2
    assert seen[3:] == ["Autograd", "CPU"]
    assert not observer.active and not observer.sees_kernels


def test_a_failing_call_ends_with_no_result():
    seen = []
    with observer.watching(lambda topic, fields: seen.append(fields), "call"), pytest.raises(RuntimeError):
        torch.ones(2, 3) @ torch.ones(2, 3)
    assert [(f["op"], f["phase"]) for f in seen[-4:]] == [("matmul", "start"), ("mm", "start"), ("mm", "end"),
                                                          ("matmul", "end")]
    assert seen[-1]["result"] is None


def test_an_optimizer_shows_what_it_runs_without_a_profile():
    model = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 3)).sum().backward()
    assert names(recorded(optimizer.step)) == ["Optimizer.step#SGD.step", "aten::_fused_sgd_"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)
    assert names(recorded(optimizer.step)) == ["Optimizer.step#SGD.step", "aten::add_", "aten::add_"]


def test_events_are_made_once_and_only_when_asked_for():
    prof = recorded(training_step)
    first = prof.events()
    assert first and prof.events() is first and prof.key_averages()
