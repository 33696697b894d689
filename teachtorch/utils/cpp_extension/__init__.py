"""C++ functions on tensors: torch.utils.cpp_extension.

    source = '''
    torch::Tensor scale(torch::Tensor x, double k) {
        x = x.contiguous();
        torch::Tensor y = torch::empty_like(x);
        for (int64_t i = 0; i < x.numel(); ++i)
            y.data_ptr<float>()[i] = k * x.data_ptr<float>()[i];
        return y;
    }'''
    module = load_inline("scaling", source, functions=["scale"])
    module.scale(torch.ones(3), 2.0)

`build.py` compiles, once for each content; `call.py` crosses the border; `extension.h` is what the sources
see: tensors with pointers, sizes and strides, without operators. To give a function a gradient, make it an
operator with `library.custom_op`. https://pytorch.org/docs/stable/cpp_extension.html
"""
from .build import CompilerError, extensions_folder, is_compiler_available
from .load import load, load_inline

__all__ = ["CompilerError", "extensions_folder", "is_compiler_available", "load", "load_inline"]
