"""A module's state, out and in again, with versions.

save(module) gives two dicts: {path: tensor} of all parameters and persistent buffers, and {path: version}
of all modules (the module itself has the path ""). A module's own parameters come first, then its own
buffers, then its children's. load() takes both back:

1. Values are copied into the tensors that are there, which keep their identity and dtype: optimizers hold
   them.
2. All that is wrong is told in one RuntimeError. With strict=True: every missing and every unexpected path.
   And always: every tensor whose shape does not fit.
3. A module that has a method `upgrade(state, prefix, version)` is asked first. It may add, rename and
   delete what lies under its prefix (such as "block.") in `state`, where an older version of the class had
   other names. The caller's dict must not change by it. version is None if the saved dict has none.

What a module holds: `module._parameters`, `module._buffers`, `module._modules` are dicts by name, whose
values may be None. `module._non_persistent_buffers_set` has the names of buffers that are not saved,
`module._version` the number.
"""

import teachtorch as torch


def save(module):
    """Return (state, versions). The tensors are detached, and share the memory of the module's own."""
    raise NotImplementedError


def load(module, state, versions, strict=True):
    """Copy a state into the module. Return (missing, unexpected), two lists of paths.

    Nothing is raised for those two if strict is False. RuntimeError otherwise, see above.
    """
    raise NotImplementedError
