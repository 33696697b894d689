"""Several methods of a module, traced together."""
import pytest

import teachtorch as torch


class TwoMethods(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.only_here = torch.nn.Parameter(torch.full((2,),
                                                                    3.0)), torch.nn.Parameter(torch.ones(2))
        self.register_buffer("shift", torch.ones(2))

    def forward(self, x):
        return x * self.weight + self.shift

    def scaled(self, x, by):
        return x * self.weight * by + self.only_here + self.shift


def trace_module(*args, **kwargs):
    with pytest.warns(DeprecationWarning, match="deprecated"):
        return torch.jit.trace_module(*args, **kwargs)


def test_trace_module_has_the_methods_under_their_names_and_shares_parameters():
    module, x = TwoMethods(), torch.ones(2)
    traced = trace_module(module, {"forward": x, "scaled": (x, x)}, check_inputs=[{"scaled": (x * 2, x)}])
    assert torch.equal(traced(x * 2), module(x * 2)) and torch.equal(traced.scaled(x, x * 5),
                                                                     module.scaled(x, x * 5))
    assert sorted(name for name, _ in traced.named_parameters()) == ["only_here", "weight"]
    assert traced.weight is module.weight and traced.only_here is module.only_here
    with torch.no_grad():
        module.weight.fill_(7.0)
    assert torch.equal(traced.scaled(x, x), module.scaled(x, x))
    with pytest.raises(RuntimeError, match="a file holds forward alone, and this module has scaled besides"):
        traced.save("nowhere")


def test_trace_module_without_forward_and_what_it_refuses():
    module, x = TwoMethods(), torch.ones(2)
    traced = trace_module(module, {"scaled": (x, x)})
    assert torch.equal(traced.scaled(x, x), module.scaled(x, x))
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        traced(x)
    with pytest.raises(AttributeError, match="expected torch.nn.Module as the first argument"):
        trace_module(lambda x: x, {"forward": x})
    with pytest.raises(AttributeError, match="expected a dictionary of"):
        trace_module(module, [x])
