"""`teachtorch draw`: run a script and draw the graph of its last backward."""

import functools
from pathlib import Path

import teachtorch
from teachtorch.cli.backward_watch import BackwardWatch, public, watch_library, when_imported
from teachtorch.cli.errors import CommandError
from teachtorch.cli.script import run_script

ENDINGS = (".html", ".svg", ".txt", ".dot", ".json")


def draw(script, arguments, output, tensor=None, max_nodes=None):
    """Run `script` and write a picture of one of its graphs to `output`.

    Args:
        script: path of a Python file that uses teachtorch or torch.
        arguments: the words that the script finds in sys.argv.
        output: path to write; one of ENDINGS says how.
        tensor: a variable of the script, or an expression of its variables; None for the root of its last
            backward or autograd.grad.
        max_nodes: how many nodes to show at most; None for the default of viz.graph.

    Returns:
        The script's exit status: an error in the script is shown, and what there is is still drawn.

    Raises:
        CommandError: if there is no such script, or nothing to draw.
    """
    check_paths(Path(script), Path(output))
    take_picture = graph_drawer(max_nodes)
    watch = BackwardWatch(lambda roots, variables: take_picture(roots, names=variables))
    if tensor is None:
        watch_library(teachtorch, watch)
        when_imported("torch", lambda torch: watch_library(torch, watch))
    finished = run_script(script, arguments)
    if tensor is None:
        picture = picture_of_last(watch, finished)
    else:
        picture = picture_of_variable(take_picture, finished.variables, tensor)
    save(picture, output)
    print(f"Wrote {output}")
    return finished.status


def graph_drawer(max_nodes):
    """Import viz before the script runs: its folder may hold a file of that name."""
    import viz

    return viz.graph if max_nodes is None else functools.partial(viz.graph, max_nodes=max_nodes)


def save(picture, output):
    from viz.dot import LayoutError

    try:
        picture.save(output)
    except LayoutError as error:
        raise CommandError(f"cannot write {output}: {error}\nA .txt file needs no layout program.") from error


def check_paths(script, output):
    """Complain before the script runs, which may take long."""
    if not script.is_file():
        raise CommandError(f"no such script: {script}")
    if output.suffix not in ENDINGS:
        raise CommandError(f"cannot write {output}: its name must end in one of {' '.join(ENDINGS)}")
    if not output.resolve().parent.is_dir():
        raise CommandError(f"cannot write {output}: there is no folder {output.parent}")


def picture_of_last(watch, finished):
    picture = watch.last_picture()
    if picture is None:
        came_to = "The script failed before its first" if finished.status else "The script called no"
        raise CommandError(f"{came_to} backward() or autograd.grad(). {offer_tensors(finished.variables)}")
    return picture


def picture_of_variable(take_picture, variables, expression):
    try:
        value = eval(expression, variables)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise CommandError(f"--tensor {expression}: {reason}. {offer_tensors(variables)}") from error
    try:
        return take_picture(value, names=public(variables))
    except (TypeError, ValueError) as error:
        raise CommandError(f"--tensor {expression}: {error}. {offer_tensors(variables)}") from error


def offer_tensors(variables):
    """A sentence that names the script's tensors that have a graph."""
    names = [name for name, value in variables.items() if has_graph(value)]
    if not names:
        return "None of its variables is a tensor with a graph."
    return f"Its variables with a graph: {', '.join(names)}; draw one with --tensor NAME."


def has_graph(value):
    """Looks at the class first, so that no lazy object is woken."""
    return hasattr(type(value), "grad_fn") and value.grad_fn is not None
