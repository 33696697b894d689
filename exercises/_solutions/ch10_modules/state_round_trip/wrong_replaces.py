"""Puts the loaded tensors in the place of the module's own."""

FAILS = "test_in_place"
SAYS = "an optimizer that holds"


import teachtorch as torch


def save(module):
    own = tensors_of(module)
    state = {path: tensor.detach() for path, tensor in own.items()}
    return (state, {path: part._version for path, part in parts_of(module).items()})


def load(module, state, versions, strict=True):
    state = dict(state)
    for path, part in parts_of(module).items():
        if hasattr(part, 'upgrade'):
            part.upgrade(state, path + '.' if path else '', versions.get(path))
    own = tensors_of(module)
    missing = [path for path in own if path not in state]
    unexpected = [path for path in state if path not in own]
    wrong = [f'missing: {path}' for path in missing] + [f'unexpected: {path}' for path in unexpected]
    wrong = wrong if strict else []
    fitting = [path for path in own if path in state and state[path].shape == own[path].shape]
    wrong += [f'size mismatch: {path}' for path in own if path in state and path not in fitting]
    with torch.no_grad():
        for path in fitting:
            owner, _, name = path.rpartition('.')
            part = parts_of(module)[owner]
            home = part._parameters if name in part._parameters else part._buffers
            home[name] = torch.nn.Parameter(state[path]) if home is part._parameters else state[path]
    if wrong:
        raise RuntimeError('\n'.join(wrong))
    return (missing, unexpected)


def parts_of(module, path=''):
    found = {path: module}
    for name, child in module._modules.items():
        if child is not None:
            found.update(parts_of(child, f'{path}.{name}' if path else name))
    return found


def tensors_of(module):
    found = {}
    for path, part in parts_of(module).items():
        kept = {n: b for n, b in part._buffers.items() if n not in part._non_persistent_buffers_set}
        for name, tensor in {**part._parameters, **kept}.items():
            if tensor is not None:
                found[f'{path}.{name}' if path else name] = tensor
    return found
