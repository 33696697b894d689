"""`load_inline` and `load`: from sources to a module of functions."""
import ctypes
import re
import types
from pathlib import Path

from .build import built
from .call import CompiledFunction

HEAD = '#include "extension.h"\n'
OTHER_HEADER = re.compile(r'^\s*#include\s*[<"]torch/\w+\.h[>"]\s*$', re.MULTILINE)


def load_inline(name, cpp_sources, cuda_sources=None, functions=None, extra_cflags=None, extra_cuda_cflags=None,
                extra_ldflags=None, extra_include_paths=None, build_directory=None, verbose=False, with_cuda=None,
                is_python_module=True, with_pytorch_error_handling=True, keep_intermediates=True,
                use_pch=False, no_implicit_headers=False):
    """A module of C++ functions from their sources (torch.utils.cpp_extension.load_inline).

    `functions`: the names to export, or {name: docstring}. Their parameters may be torch::Tensor, double, float,
    int64_t, int and bool; they return one of these, a std::vector<torch::Tensor>, or nothing. The first call for a
    content compiles (a second or two), later ones load. CompilerError shows the compiler's message with the lines of
    the source; RuntimeError if there is no compiler.
    """
    if cuda_sources:
        raise RuntimeError("load_inline: CUDA sources need nvcc and a GPU; teachtorch compiles C++ only. GPU kernels are "
                           "written in Python, with numba.cuda: see chapter 17")
    sources = [cpp_sources] if isinstance(cpp_sources, str) else list(cpp_sources)
    names = exported(functions)
    text = HEAD + "".join([numbered(source, i, len(sources)) for i, source in enumerate(sources)])
    text += "".join([f"TT_EXPORT({function})\n" for function in names])
    flags = [*(extra_cflags or ()), *[f"-I{path}" for path in extra_include_paths or ()], *(extra_ldflags or ())]
    library = ctypes.CDLL(str(built(name, text, flags, build_directory, verbose)))
    module = types.ModuleType(name, f"C++ functions: {', '.join(names)}")
    for function, doc in names.items():
        setattr(module, function, CompiledFunction(library, function, doc))
    return module


def load(name, sources, functions=None, **options):
    """The same from files. `functions`: as in load_inline; without it, what TT_EXPORT or PYBIND11_MODULE names."""
    texts = [Path(source).read_text() for source in ([sources] if isinstance(sources, str) else sources)]
    if functions is None:
        functions = [found for text in texts for found in re.findall(r'm\.def\(\s*"\w+"\s*,\s*&(\w+)', text)]
        texts = [re.sub(r"PYBIND11_MODULE\s*\([^)]*\)\s*\{.*?\n\}", "", text, flags=re.DOTALL) for text in texts]
    return load_inline(name, texts, functions=functions, **options)


def exported(functions):
    """{name: docstring}"""
    if functions is None:
        raise ValueError("load_inline: functions=[...] must name the functions to export")
    if isinstance(functions, str):
        functions = [functions]
    return dict(functions) if isinstance(functions, dict) else dict.fromkeys(functions, None)


def numbered(source, i, count):
    """A source so that the compiler counts its lines from 1; PyTorch's own header is ours."""
    place = "source.cpp" if count == 1 else f"source{i}.cpp"
    return f'#line 1 "{place}"\n{OTHER_HEADER.sub("", source)}\n#line 1 "exports"\n'
