"""Has a bias in any case."""

FAILS = "test_without_bias"
SAYS = "no bias was asked for"


import math
import teachtorch as torch


class LazyLinear(torch.nn.Linear):

    def __init__(self, out_features, bias=True, dtype=None):
        super().__init__(0, 0, bias=False)
        self.out_features = out_features
        self.weight = torch.nn.UninitializedParameter(dtype=dtype)
        if True:
            self.bias = torch.nn.UninitializedParameter(dtype=dtype)

    def reset_parameters(self):
        pass

    def forward(self, x):
        self.in_features = x.shape[-1]
        self.weight.materialize((self.out_features, self.in_features))
        if self.bias is not None:
            self.bias.materialize((self.out_features,))
        bound = 1 / math.sqrt(self.in_features)
        for parameter in self.parameters():
            torch.nn.init.uniform_(parameter, -bound, bound)
        self.__class__ = torch.nn.Linear
        return torch.nn.functional.linear(x, self.weight, self.bias)
