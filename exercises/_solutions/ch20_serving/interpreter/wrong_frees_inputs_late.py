"""Keeps the inputs to the end."""

import teachtorch as torch

FAILS = "test_lets_go"
SAYS = "y goes after y + 2"


def values(argument, env):
    if isinstance(argument, torch.fx.Node):
        return env[argument]
    if isinstance(argument, (tuple, list)):
        return type(argument)([values(part, env) for part in argument]) if type(argument) is tuple else [
            values(part, env) for part in argument]
    if isinstance(argument, dict):
        return {key: values(part, env) for key, part in argument.items()}
    return argument


def call(node, args, kwargs, module):
    if node.op == "call_function":
        return node.target(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    place = module
    for atom in node.target.split("."):
        place = getattr(place, atom)
    return place(*args, **kwargs) if node.op == "call_module" else place


def last_users(graph):
    found, seen = {}, set()
    for node in reversed(graph.nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(node, []).append(used)
    return found


def shape_of(value):
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return [shape_of(part) for part in value]
    return None


def run(module, *inputs):
    env, shapes, most = {}, {}, 0
    given, users = iter(inputs), last_users(module.graph)
    for node in module.graph.nodes:
        args, kwargs = values(node.args, env), values(node.kwargs, env)
        if node.op == "output":
            return args[0], shapes, most
        env[node] = next(given) if node.op == "placeholder" else call(node, args, kwargs, module)
        shapes[node.name] = shape_of(env[node])
        most = max(most, len(env))
        for used in users.get(node, ()):
            if used.op != "placeholder" or len(inputs) == 1:
                del env[used]
