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
    # solution
    own = tensors_of(module)
    state = {path: tensor.detach() for path, tensor in own.items()}
    return state, {path: part._version for path, part in parts_of(module).items()}
    # end of solution


def load(module, state, versions, strict=True):
    """Copy a state into the module. Return (missing, unexpected), two lists of paths.

    Nothing is raised for those two if strict is False. RuntimeError otherwise, see above.
    """
    # solution
    state = dict(state)
    for path, part in parts_of(module).items():
        if hasattr(part, "upgrade"):
            part.upgrade(state, path + "." if path else "", versions.get(path))
    own = tensors_of(module)
    missing = [path for path in own if path not in state]
    unexpected = [path for path in state if path not in own]
    wrong = [f"missing: {path}" for path in missing] + [f"unexpected: {path}" for path in unexpected]
    wrong = wrong if strict else []
    fitting = [path for path in own if path in state and state[path].shape == own[path].shape]
    wrong += [f"size mismatch: {path}" for path in own if path in state and path not in fitting]
    with torch.no_grad():
        for path in fitting:
            own[path].copy_(state[path])
    if wrong:
        raise RuntimeError("\n".join(wrong))
    return missing, unexpected
    # end of solution


# solution
def parts_of(module, path=""):
    """{path: module} of a module and all below it."""
    found = {path: module}
    for name, child in module._modules.items():
        if child is not None:
            found.update(parts_of(child, f"{path}.{name}" if path else name))
    return found


def tensors_of(module):
    """{path: tensor} of all that is saved."""
    found = {}
    for path, part in parts_of(module).items():
        kept = {n: b for n, b in part._buffers.items() if n not in part._non_persistent_buffers_set}
        for name, tensor in {**part._parameters, **kept}.items():
            if tensor is not None:
                found[f"{path}.{name}" if path else name] = tensor
    return found


# end of solution
