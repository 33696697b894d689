"""state_dict of an optimizer: parameters by their place, not by their name.

A running optimizer keeps the state of each parameter by the parameter itself. A file cannot: so state_dict
numbers the parameters, in the order of the groups and inside each group, and load_state_dict matches them by
that number. Whoever builds the groups in another order gets another parameter's state, without a word.

Here parameters are NumPy arrays, and state is a dict id(parameter) -> {name: number or array}.
"""

import numpy as np


def state_dict(groups, state):
    """Return {"state": {number: {name: value}}, "param_groups": [...]}.

    groups: dicts with "params", a list of arrays, and options. In the result "params" holds the numbers;
    options are the same. Parameters without state have no entry in "state". Neither groups nor state may
    change.
    """
    raise NotImplementedError


def load_state_dict(groups, saved):
    """Return (groups, state) as they are after loading: the parameters of `groups`, the options and state of
    `saved`.

    ValueError when the number of groups, or of parameters in a group, differs. Arrays of the state take the
    dtype of their parameter; but not "step", and not plain numbers. Nothing of the result may be an array of
    `saved`.
    """
    raise NotImplementedError
