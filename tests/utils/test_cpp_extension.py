"""C++ functions on tensors."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import teachtorch as torch
from teachtorch.utils import cpp_extension
from teachtorch.utils.cpp_extension import CompilerError, load, load_inline

pytestmark = pytest.mark.skipif(not cpp_extension.is_compiler_available(), reason="needs a C++ compiler")

SOURCE = """
#include <torch/extension.h>

torch::Tensor scale(const torch::Tensor& x, double k) {
    torch::Tensor input = x.contiguous(), y = torch::empty_like(input);
    for (int64_t i = 0; i < input.numel(); ++i)
        y.data_ptr<float>()[i] = k * input.data_ptr<float>()[i];
    return y;
}

std::vector<torch::Tensor> row_sums(torch::Tensor x) {
    TORCH_CHECK(x.dim() == 2, "expected 2 dims, got ", x.dim());
    auto elements = x.accessor<double, 2>();
    torch::Tensor sums = torch::zeros({x.size(0)}, torch::kDouble);
    for (int64_t i = 0; i < x.size(0); ++i)
        for (int64_t j = 0; j < x.size(1); ++j) sums.data_ptr<double>()[i] += elements[i][j];
    return {sums, x};
}

int64_t count(torch::Tensor x, bool b, int n) { return x.numel() + b + n; }
bool is_long(torch::Tensor x) { return x.scalar_type() == torch::kLong; }
void fill(torch::Tensor x, float v) { for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] = v; }
double last(torch::Tensor x) { return x.data_ptr<float>()[x.stride(-1) * (x.size(-1) - 1)]; }
int64_t beyond(torch::Tensor x) { return x.size(5); }
"""
FUNCTIONS = ["scale", "row_sums", "count", "is_long", "fill", "last", "beyond"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("extensions")


@pytest.fixture(scope="module")
def module(folder):
    return load_inline("exam", SOURCE, functions=FUNCTIONS, build_directory=folder)


def test_results(module):
    x = torch.arange(6.0).view(2, 3)
    assert module.scale(x, 2.0).equal(x * 2)
    assert module.scale(x.t(), 2).equal(x.t() * 2)          # strides are seen
    sums, same = module.row_sums(x.double().t())
    assert sums.tolist() == [3.0, 5.0, 7.0] and sums.dtype is torch.float64
    assert module.count(x, True, 5) == 12 and module.is_long(torch.tensor([1])) is True
    assert module.last(torch.tensor([1.0, 2.0, 7.0, 0.0])[::2]) == 7.0


def test_an_argument_that_comes_back_is_itself(module):
    x = torch.ones(2, 2, dtype=torch.float64)
    assert module.row_sums(x)[1] is x


def test_memory_is_shared_not_copied(module):
    x = torch.zeros(4)
    assert module.fill(x[1:3], 4.0) is None
    assert x.tolist() == [0.0, 4.0, 4.0, 0.0]


def test_empty_tensors_and_scalars(module):
    assert module.scale(torch.empty(0, 3), 2.0).shape == (0, 3)
    assert module.scale(torch.tensor(3.0), 2.0).item() == 6.0


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda m: m.row_sums(torch.ones(3)), RuntimeError, "expected 2 dims, got 1"),
    (lambda m: m.scale(torch.ones(3).double(), 1.0), RuntimeError, "expected scalar type Float but found Double"),
    (lambda m: m.beyond(torch.ones(3)), RuntimeError, "Dimension out of range"),
    (lambda m: m.scale(torch.ones(3)), TypeError, "takes 2 arguments, got 1"),
    (lambda m: m.scale(1, 2), TypeError, "argument 0 must be Tensor, not int"),
    (lambda m: m.count(torch.ones(1), True, 1.5), TypeError, "argument 2 must be int, not float"),
    (lambda m: m.scale(torch.ones(3, dtype=torch.bfloat16), 1.0), RuntimeError, "cannot be passed to C"),
    (lambda m: m.scale(torch.ones(3, device="meta"), 1.0), RuntimeError, "expected tensors on the CPU"),
])
def test_errors(module, call, error, words):
    with pytest.raises(error, match=words):
        call(module)


def test_the_compilers_message_has_the_users_lines(folder):
    with pytest.raises(CompilerError, match=r"source.cpp:2:9: error: .*undefined_name"):
        load_inline("bad", "int f(int x) {\n return undefined_name; }", functions="f", build_directory=folder)
    assert not list(Path(folder).glob("bad*"))


def test_functions_must_be_named():
    with pytest.raises(ValueError, match="must name the functions"):
        load_inline("nothing", "int f(int x) { return x; }")


def test_the_same_content_is_compiled_once(module, folder):
    before = sorted(os.listdir(folder))
    again = load_inline("exam", SOURCE, functions=FUNCTIONS, build_directory=folder)
    assert again.count(torch.ones(2), False, 0) == 2
    assert sorted(os.listdir(folder)) == before
    load_inline("exam", SOURCE + "\n// changed\n", functions=["count"], build_directory=folder)
    assert len(os.listdir(folder)) == len(before) + 1


def test_without_a_compiler_there_is_a_clear_word(tmp_path):
    code = "from teachtorch.utils.cpp_extension import load_inline\nload_inline('x', 'int f(int x) { return x; }', functions='f')"
    empty = {**os.environ, "PATH": str(tmp_path), "CXX": "", "PYTHONPATH": os.getcwd(), "TEACHTORCH_EXTENSIONS_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=empty, capture_output=True, text=True)
    assert done.returncode == 1 and "need a C++ compiler (c++, g++ or clang++), and none is on PATH" in done.stderr


def test_a_file(folder):
    path = Path(folder) / "addition.cpp"
    path.write_text("#include <torch/extension.h>\nint64_t add(int64_t a, int64_t b) { return a + b; }\n"
                    "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n    m.def(\"add\", &add, \"Add\");\n}\n")
    assert load("addition", [str(path)], build_directory=folder).add(2, 3) == 5


def test_an_operator_with_a_gradient(module):
    library = torch.library

    @library.custom_op("cpp_exam::scale", mutates_args=())
    def scale(x: torch.Tensor, k: float) -> torch.Tensor:
        return module.scale(x, k)
    scale.register_fake(lambda x, k: torch.empty_like(x))
    scale.register_autograd(lambda ctx, grad: (scale(grad, ctx.k), None),
                            setup_context=lambda ctx, inputs, output: setattr(ctx, "k", inputs[1]))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    scale(x, 3.0).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0])
    assert set(library.opcheck(scale, (x, 3.0)).values()) == {"SUCCESS"}


def test_a_function_may_call_another_while_it_runs(module):
    import threading

    found, threads = [], [threading.Thread(target=lambda: found.append(module.scale(torch.ones(5), 2.0).tolist()))
                          for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[2.0] * 5] * 4


# ---- headers, and builds that do not go as planned --------------------------------------------------------------------


def test_a_changed_header_is_seen(tmp_path):
    (tmp_path / "inner.h").write_text("#define VALUE 1\n")
    (tmp_path / "outer.h").write_text('#pragma once\n#include "inner.h"\n')
    source = '#include "outer.h"\nint64_t value() { return VALUE; }\n'

    def value():
        options = dict(functions="value", extra_include_paths=[str(tmp_path)], build_directory=tmp_path / "built")
        return load_inline("header", source, **options).value()
    assert value() == 1
    before = sorted(os.listdir(tmp_path / "built"))
    assert value() == 1 and sorted(os.listdir(tmp_path / "built")) == before
    (tmp_path / "inner.h").write_text("#define VALUE 2\n")
    assert value() == 2
    (tmp_path / "inner.h").write_text("#define VALUE 1\n")
    assert value() == 1 and len(os.listdir(tmp_path / "built")) == 2


def test_a_file_includes_what_lies_beside_it(tmp_path):
    (tmp_path / "beside.h").write_text("#define VALUE 3\n")
    (tmp_path / "file.cpp").write_text('#include <torch/extension.h>\n#include "beside.h"\nint64_t value() { return VALUE; }\n')
    assert load("file", tmp_path / "file.cpp", functions="value", build_directory=tmp_path / "built").value() == 3


def test_a_missing_header_is_the_compilers_message(tmp_path):
    with pytest.raises(CompilerError, match=r"source\.cpp:1:10: fatal error: absent\.h"):
        load_inline("absent", '#include "absent.h"\nint f() { return 1; }', functions="f", build_directory=tmp_path)


ONE = "from teachtorch.utils.cpp_extension import load_inline; import os; " \
      "print(load_inline('one', 'int64_t one() { return 1; }', functions='one', build_directory=os.environ['AT']).one())"


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


def start(folder, compiler):
    return subprocess.Popen([sys.executable, "-c", ONE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "CXX": compiler, "AT": str(folder), "PYTHONPATH": os.getcwd()})


def test_two_processes_that_build_the_same_at_once(tmp_path):
    # Neither compiler goes on before the other one has begun, so both processes find nothing compiled.
    meet = f'touch {tmp_path}/$$.here\nfor i in $(seq 600); do\n' \
           f'    [ $(ls {tmp_path}/*.here | wc -l) -ge 2 ] && exec c++ "$@"\n    sleep 0.1\ndone\nexit 1\n'
    compiler = script(tmp_path / "compiler", meet)
    both = [start(tmp_path / "built", compiler) for _ in range(2)]
    assert [(p.communicate()[0], p.returncode) for p in both] == [("1\n", 0)] * 2
    assert [name.rpartition("_")[0] for name in os.listdir(tmp_path / "built")] == ["one"]


def test_a_killed_build_leaves_no_half_library(tmp_path):
    killing = script(tmp_path / "compiler", f'if [ -e {tmp_path}/go ]; then exec c++ "$@"; fi\n'
                                            'for last; do :; done\necho half > "$last"\nkill -9 $PPID\n')
    died = start(tmp_path / "built", killing)
    died.communicate()
    assert died.returncode == -9
    assert not list((tmp_path / "built").glob("*.so"))
    (tmp_path / "go").touch()
    lives = start(tmp_path / "built", killing)
    assert lives.communicate()[0] == "1\n" and len(list((tmp_path / "built").glob("*.so"))) == 1


# ---- CUDA -------------------------------------------------------------------------------------------------------------

DECLARED = "torch::Tensor twice(torch::Tensor x);"
CUDA_SOURCE = """
__global__ void twice_kernel(float* out, const float* in, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}

torch::Tensor twice(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda(), "expected a tensor on the GPU");
    torch::Tensor y = torch::empty_like(x);
    twice_kernel<<<(x.numel() + 255) / 256, 256>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.numel());
    return y;
}
"""
# Stands in for nvcc where there is none: it hands plain C++ on to the C++ compiler, with a header that knows no GPU.
STAND_IN = """for last in "$@"; do
    shift
    case "$last" in -Xcompiler) ;; *.cu) set -- "$@" -x c++ "$last" ;; *) set -- "$@" "$last" ;; esac
done
exec c++ -I{folder} "$@"
"""
NO_GPU_HEADER = """#pragma once
enum cudaError_t { cudaSuccess, cudaErrorNoDevice };
inline void cudaDeviceSynchronize() {}
inline cudaError_t cudaGetLastError() { return GPUS ? cudaSuccess : cudaErrorNoDevice; }
inline const char* cudaGetErrorString(cudaError_t) { return "no CUDA-capable device is detected"; }
"""


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    script(tmp_path / "nvcc", STAND_IN.replace("{folder}", str(tmp_path)))
    (tmp_path / "cuda.h").touch()
    (tmp_path / "cuda_runtime.h").write_text(NO_GPU_HEADER)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


def test_cuda_sources_are_compiled_by_nvcc_and_linked(stand_in, tmp_path):
    source = "#include <torch/extension.h>\nint64_t one() { return 1; }"
    module = load_inline("plain", "int64_t one();", source, ["one"], extra_cuda_cflags=["-DGPUS=1"],
                         build_directory=tmp_path / "built")
    assert module.one() == 1


def test_what_cuda_complains_of_is_an_error_of_the_call(stand_in, tmp_path):
    module = load_inline("plain", "int64_t one();", ["int64_t one() { return 1; }"], ["one"], with_cuda=True,
                         extra_cuda_cflags=["-DGPUS=0"], build_directory=tmp_path / "built")
    with pytest.raises(RuntimeError, match=r"^one\(\): CUDA error: no CUDA-capable device is detected$"):
        module.one()


def test_an_error_in_a_cuda_source_has_its_lines(stand_in, tmp_path):
    with pytest.raises(CompilerError, match=r"refused source\.cu of 'wrong':\n(.*\n)*source\.cu:2:\d+: error"):
        load_inline("wrong", "int f();", "// a kernel\nint f() { return absent; }", "f", extra_cuda_cflags=["-DGPUS=1"],
                    build_directory=tmp_path / "built")


def test_cuda_sources_without_nvcc(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CXX", script(tmp_path / "c++", "exit 1"))
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    with pytest.raises(RuntimeError, match="CUDA sources need nvcc"):
        load_inline("x", DECLARED, CUDA_SOURCE, ["twice"], build_directory=tmp_path)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_nvcc_itself(tmp_path):
    module = load_inline("doubling", DECLARED, CUDA_SOURCE, ["twice"], build_directory=tmp_path)
    with pytest.raises(RuntimeError, match="CUDA error|expected a tensor on the GPU"):
        module.twice(torch.ones(3))
    with pytest.raises(CompilerError, match=r"source\.cu\(4\): error"):
        load_inline("doubling", DECLARED, CUDA_SOURCE.replace("2 * in", "2 * on"), ["twice"], build_directory=tmp_path)
