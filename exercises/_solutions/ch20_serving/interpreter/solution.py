"""An interpreter: run a graph node by node, note the shapes, and let values go.

The graphs are those of torch.fx: `for node in graph.nodes`, with node.op, node.target, node.args, node.kwargs.
"""
import teachtorch as torch


def values(argument, env):
    """The argument with the value of each node in its place; `env`: {node: value}.

    Arguments are nodes, numbers and the like, and tuples, lists and dicts of them.
    """
    # solution
    if isinstance(argument, torch.fx.Node):
        return env[argument]
    if isinstance(argument, (tuple, list)):
        return type(argument)([values(part, env) for part in argument]) if type(argument) is tuple else [
            values(part, env) for part in argument]
    if isinstance(argument, dict):
        return {key: values(part, env) for key, part in argument.items()}
    return argument
    # end of solution


def call(node, args, kwargs, module):
    """The value of a node that is neither a placeholder nor the output."""
    # solution
    if node.op == "call_function":
        return node.target(*args, **kwargs)
    if node.op == "call_method":
        return getattr(args[0], node.target)(*args[1:], **kwargs)
    place = module
    for atom in node.target.split("."):
        place = getattr(place, atom)
    return place(*args, **kwargs) if node.op == "call_module" else place
    # end of solution


def last_users(graph):
    """{node: the nodes whose values nobody needs after it}."""
    # solution
    found, seen = {}, set()
    for node in reversed(graph.nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(node, []).append(used)
    return found
    # end of solution


def shape_of(value):
    """A tensor's shape as a tuple of ints; for a tuple or list of values the list of theirs; None for anything else."""
    # solution
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return [shape_of(part) for part in value]
    return None
    # end of solution


def run(module, *inputs):
    """(the output of `module.graph`, {node's name: shape_of its value}, the largest number of values held at once).

    A value is held from when its node has run until its last user has; one that nobody uses, until the end. Count after
    each node, before letting go.
    """
    # solution
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
            del env[used]
    # end of solution
