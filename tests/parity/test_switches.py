"""Switches that scripts set before they train: determinism, precision, backends, anomaly mode, version."""
import warnings

import pytest

import teachtorch

torch = pytest.importorskip("torch")


def outcome(call):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            found = call()
        except Exception as error:
            return type(error).__name__, str(error)
    return found, [str(w.message).partition(" (Triggered")[0] for w in warned]


def determinism(T):
    """What is asked after each setting."""
    found = []
    for setting in ([True], [True, "warn"], [False, "warn"], [False]):
        T.use_deterministic_algorithms(setting[0], warn_only=len(setting) > 1)
        found.append((T.are_deterministic_algorithms_enabled(), T.is_deterministic_algorithms_warn_only_enabled(),
                      T.get_deterministic_debug_mode()))
    for mode in ("warn", 2, "error", "default", 0):
        T.set_deterministic_debug_mode(mode)
        found.append((mode, T.get_deterministic_debug_mode(), T.are_deterministic_algorithms_enabled()))
    return found


def test_determinism():
    assert determinism(teachtorch) == determinism(torch)


@pytest.mark.parametrize("mode", ["loud", 3, None, 1.0])
def test_refused_modes(mode):
    theirs, ours = (outcome(lambda: T.set_deterministic_debug_mode(mode)) for T in (torch, teachtorch))
    assert ours == theirs


def precision(T):
    T.set_float32_matmul_precision("high")
    found = [T.get_float32_matmul_precision()]
    T.set_float32_matmul_precision("highest")
    return [*found, outcome(lambda: T.set_float32_matmul_precision("x")), T.get_float32_matmul_precision()]


def test_precision():
    assert precision(teachtorch) == precision(torch)


def anomaly(T):
    found = [T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with T.autograd.detect_anomaly(check_nan=False):
            found += [T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled()]
    return [*found, T.is_anomaly_enabled()]


def test_anomaly_mode():
    assert anomaly(teachtorch) == anomaly(torch)


@pytest.mark.parametrize("T", [teachtorch, torch], ids=["teachtorch", "torch"])
def test_backends_can_be_set_and_asked(T):
    before = T.backends.cudnn.benchmark, T.backends.cudnn.deterministic
    T.backends.cudnn.benchmark, T.backends.cudnn.deterministic = True, True
    assert T.backends.cudnn.benchmark and T.backends.cudnn.deterministic
    T.backends.cudnn.benchmark, T.backends.cudnn.deterministic = before
    assert not T.backends.mps.is_available() and not T.backends.mps.is_built()
    with T.backends.cudnn.flags(enabled=True, benchmark=True):
        pass
    T.backends.cuda.matmul.allow_tf32 = False
    assert isinstance(T.__version__, str) and str(T.version.__version__) == str(T.__version__)


def test_there_is_no_cuda_in_teachtorch():
    assert not teachtorch.backends.cudnn.is_available() and not teachtorch.backends.cuda.is_built()
    assert teachtorch.version.cuda is None


def test_randint_with_its_size_by_name():
    for call in (lambda T: T.randint(5, size=(3,)), lambda T: T.randint(2, 5, size=(3,)), lambda T: T.randint(5, (3,)),
                 lambda T: T.randint(high=5, size=(3,))):
        torch.manual_seed(0), teachtorch.manual_seed(0)
        assert call(teachtorch).tolist() == call(torch).tolist()


def test_layer_norm_of_halves_with_float32_parameters():
    def compute(T):
        x = T.linspace(-1, 1, 12).reshape(3, 4).to(T.bfloat16)
        return T.nn.functional.layer_norm(x, (4,), T.ones(4) * 2, T.ones(4))
    found, wanted = compute(teachtorch), compute(torch)
    assert str(found.dtype) == str(wanted.dtype)
    assert found.float().reshape(-1).tolist() == pytest.approx(wanted.float().reshape(-1).tolist(), abs=2e-2)
