"""`load_inline` and `load`: from sources to a module of functions."""
import ctypes
import re
import types
from pathlib import Path

from .build import built
from .call import CompiledFunction

HEAD = '#include "extension.h"\n'
CUDA_HEAD = "#include <cuda.h>\n#include <cuda_runtime.h>\n"
CUDA_TAIL = """
extern "C" const char* tt_cuda_error() {
    cudaDeviceSynchronize();
    cudaError_t error = cudaGetLastError();
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
"""
OTHER_HEADER = re.compile(r'^\s*#include\s*[<"]torch/\w+\.h[>"]\s*$', re.MULTILINE)


def load_inline(name, cpp_sources, cuda_sources=None, functions=None, extra_cflags=None,
                extra_cuda_cflags=None,
                extra_ldflags=None, extra_include_paths=None, build_directory=None, verbose=False,
                with_cuda=None,
                is_python_module=True, with_pytorch_error_handling=True, keep_intermediates=True,
                use_pch=False, no_implicit_headers=False):
    """A module of C++ functions from their sources (torch.utils.cpp_extension.load_inline).

    `functions`: the names to export, or {name: docstring}. Their parameters may be torch::Tensor, double,
    float, int64_t, int and bool; they return one of these, a std::vector<torch::Tensor>, or nothing. The
    first call for a content compiles (a second or two), later ones load. CompilerError shows the compiler's
    message with the lines of the source; RuntimeError if there is no compiler.

    `cuda_sources` are compiled by nvcc (RuntimeError without it); `functions` must be declared in
    `cpp_sources`. They then take tensors on the GPU too, whose data_ptr is the GPU's. What CUDA complains of
    after a call, such as that there is no GPU, is a RuntimeError.
    """
    names = exported(functions)
    text = joined(cpp_sources, HEAD, "source{}.cpp") + "".join([f"TT_EXPORT({function})\n"
                                                                for function in names])
    includes = [f"-I{path}" for path in extra_include_paths or ()]
    uses_cuda = bool(cuda_sources) or bool(with_cuda)
    cuda_text = joined(cuda_sources or (), HEAD + CUDA_HEAD, "source{}.cu") + CUDA_TAIL if uses_cuda else None
    path = built(name, text, [*(extra_cflags or ()), *includes], build_directory, verbose, cuda_text,
                 [*(extra_cuda_cflags or ()), *includes], extra_ldflags or ())
    library = ctypes.CDLL(str(path))
    module = types.ModuleType(name, f"C++ functions: {', '.join(names)}")
    for function, doc in names.items():
        setattr(module, function, CompiledFunction(library, function, doc, uses_cuda))
    return module


def load(name, sources, functions=None, **options):
    """The same from files. `functions`: as in load_inline; without it, what TT_EXPORT or PYBIND11_MODULE names."""
    paths = [Path(source) for source in ([sources] if isinstance(sources, (str, Path)) else sources)]
    texts, cuda_texts = ([path.read_text() for path in paths if (path.suffix == ".cu") is is_cuda]
                         for is_cuda in (False, True))
    includes = [*(options.pop("extra_include_paths", None) or ()),
                *dict.fromkeys([str(p.parent.resolve()) for p in paths])]
    if functions is None:
        functions = [found for text in texts for found in re.findall(r'm\.def\(\s*"\w+"\s*,\s*&(\w+)', text)]
        texts = [re.sub(r"PYBIND11_MODULE\s*\([^)]*\)\s*\{.*?\n\}", "", text, flags=re.DOTALL)
                 for text in texts]
    return load_inline(name, texts, cuda_texts, functions=functions, extra_include_paths=includes, **options)


def exported(functions):
    """{name: docstring}"""
    if functions is None:
        raise ValueError("load_inline: functions=[...] must name the functions to export")
    if isinstance(functions, str):
        functions = [functions]
    return dict(functions) if isinstance(functions, dict) else dict.fromkeys(functions, None)


def joined(sources, head, place):
    """Sources as one, each so that the compiler counts its lines from 1; PyTorch's own header is ours."""
    sources = [sources] if isinstance(sources, str) else list(sources)
    text = head
    for i, source in enumerate(sources):
        shown = place.format("" if len(sources) == 1 else i)
        text += f'#line 1 "{shown}"\n{OTHER_HEADER.sub("", source)}\n#line 1 "exports"\n'
    return text
