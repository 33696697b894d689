"""Windows: which steps are recorded, when they are handed over, and what is wrong use."""
import warnings

import pytest

import teachtorch as torch
from teachtorch.profiler import ProfilerAction, profile, schedule
from teachtorch.profiler.profile import CLEARS

NONE, WARMUP, RECORD, SAVE = ProfilerAction


def handed_over(steps, **options):
    """[(step number, how many multiplications)] for each window, over a loop of so many steps."""
    x, found = torch.ones(3), []

    def ready(prof):
        found.append((prof.step_num, sum([event.name == "aten::mul" for event in prof.events()])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with profile(on_trace_ready=ready, **options) as prof:
            for _ in range(steps):
                x * x
                prof.step()
    return found


def test_a_window_is_handed_over_by_the_step_that_leaves_it():
    assert handed_over(8, schedule=schedule(wait=1, warmup=1, active=2, repeat=2)) == [(4, 2), (8, 2)]


def test_repeat_zero_goes_on():
    assert handed_over(9, schedule=schedule(wait=0, warmup=1, active=2)) == [(3, 2), (6, 2), (9, 2)]


def test_a_window_that_the_end_cuts_short_is_handed_over():
    assert handed_over(3, schedule=schedule(wait=1, warmup=1, active=3)) == [(3, 1)]


def test_a_warm_up_is_not_handed_over():
    assert handed_over(2, schedule=schedule(wait=1, warmup=2, active=1)) == []


def test_without_a_schedule_everything_is_one_window():
    assert handed_over(3) == [(3, 3)]


def test_acc_events_keeps_earlier_windows():
    assert handed_over(4, schedule=schedule(wait=0, warmup=1, active=1), acc_events=True) == [(2, 1), (4, 2)]


def test_a_new_window_forgets_and_says_so():
    prof = profile()
    with prof:
        torch.ones(3) * 2
    with pytest.warns(UserWarning, match="Profiler clears events"), prof:
        torch.ones(3)
    assert [event.name for event in prof.events()] == ["aten::ones"]
    assert "acc_events=True" in CLEARS


@pytest.mark.parametrize("actions,words", [((RECORD, NONE), "RECORD followed by NONE"),
                                           ((RECORD, WARMUP), "RECORD followed by WARMUP"),
                                           ((WARMUP, NONE), "WARMUP followed by NONE")])
def test_a_schedule_that_drops_a_window_is_warned_of(actions, words):
    with profile(schedule=lambda step: (*actions, NONE)[min(step, 2)]) as prof, pytest.warns(UserWarning, match=words):
        prof.step()


def test_steps_appear_under_one_name_in_averages_and_by_number_in_the_trace():
    with profile(schedule=schedule(wait=0, warmup=1, active=2, repeat=1)) as prof:
        for _ in range(3):
            prof.step()
    assert [(a.key, a.count) for a in prof.key_averages()] == [("ProfilerStep*", 2)]
    assert [event.trace_name for event in prof.events()] == ["ProfilerStep#1", "ProfilerStep#2"]


@pytest.mark.parametrize("wrong", [dict(wait=-1, warmup=0, active=1), dict(wait=0, warmup=0, active=0),
                                   dict(wait=0, warmup=-1, active=1), dict(wait=0, warmup=0, active=1, repeat=-1)])
def test_wrong_schedules_are_refused(wrong):
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        schedule(**wrong)


def test_a_schedule_without_warm_up_is_warned_of():
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)


def test_results_before_there_are_any_are_refused(tmp_path):
    for ask in (lambda p: p.events(), lambda p: p.key_averages(), lambda p: p.export_chrome_trace(tmp_path / "x.json"),
                lambda p: p.stop()):
        with pytest.raises(AssertionError, match="Profiler must be initialized before"):
            ask(profile())


@pytest.mark.parametrize("activities", [[], ["CPU"], [None]])
def test_activities_must_be_activities(activities):
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=activities)


def test_use_cuda_is_deprecated():
    with pytest.warns(FutureWarning, match="use `activities`"):
        profile(use_cuda=False)
