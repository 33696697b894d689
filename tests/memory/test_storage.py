"""Storages and the runtimes that give them memory."""
import numpy as np
import pytest

import teachtorch as torch
from teachtorch.memory.runtime import CpuRuntime, register_runtime, runtime_of


def test_a_view_shares_the_storage_and_a_clone_does_not():
    x = torch.arange(6)
    view, clone = x[2:], x.clone()
    assert view.untyped_storage() is x.untyped_storage()
    assert clone.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_a_storage_holds_bytes():
    x = torch.tensor([1, 256], dtype=torch.int32)
    storage = x.untyped_storage()
    assert storage.nbytes() == 8 and storage.tolist() == [1, 0, 0, 0, 0, 1, 0, 0]


def test_resizing_keeps_what_fits():
    storage = torch.tensor([1, 2, 3, 4], dtype=torch.uint8).untyped_storage()
    assert storage.resize_(2).tolist() == [1, 2]
    assert storage.resize_(6).tolist()[:2] == [1, 2] and storage.nbytes() == 6


def test_a_storage_of_a_transposed_result_covers_all_its_memory():
    x = torch.ones(3, 4).t() + 1
    assert x.untyped_storage().nbytes() == 12 * 4


def test_meta_storages_have_a_size_and_no_address():
    x = torch.empty(3, 4, device="meta")
    assert x.untyped_storage().nbytes() == 48 and x.data_ptr() == 0


def test_unknown_device_types_are_named():
    with pytest.raises(RuntimeError, match="no runtime for device type 'nowhere'"):
        runtime_of("nowhere")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_cuda_answers_as_a_cpu_build_of_pytorch():
    for ask in (lambda: runtime_of("cuda"), lambda: torch.ones(2, device="cuda"), torch.ones(2).cuda,
                torch.cuda.current_device, torch.cuda.Stream, torch.cuda.synchronize):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            ask()
    assert torch.cuda.device_count() == torch.cuda.memory_allocated() == 0 and not torch.cuda.is_initialized()


def test_a_device_type_has_one_runtime():
    with pytest.raises(ValueError, match="has a runtime already"):
        register_runtime(CpuRuntime())


def test_the_host_sees_cpu_memory():
    runtime = runtime_of("cpu")
    a, b = runtime.malloc(4), runtime.malloc(4)
    a[...] = 7
    runtime.copy(b, a)
    assert b.dtype == np.uint8 and b.tolist() == [7, 7, 7, 7]
