"""Pictures of a tensor engine: teachtorch's own, or PyTorch's.

    import viz
    viz.graph(loss)                      # the graph that backward() will walk, with a step player
    viz.graph(loss, modules=model)       # the same, framed by the modules of the model
    viz.play(loss)                       # run that backward for real and step through what the engine did
    viz.why(x)                           # why is x.grad None? one of seven reasons, and the fix
    viz.grads(loss)                      # which gradients are kept, which are computed and dropped, in bytes
    viz.versions(x)                      # who shares this storage, at which version; what is stale
    with viz.versions.watch(x) as seen:  # the same, operation by operation: seen.picture
        x.add_(1)
    viz.holders(x)                       # who keeps the memory of x alive, and what deleting would free
    viz.diff(before, after)              # what a detach() or an in-place operation did to the graph
    viz.loader(loader)                   # an epoch of a DataLoader: who fetches, who waits for whom
    viz.memory()                         # segments and blocks of the caching allocator, and its decisions one by one
    viz.module(model, x)                 # the tree of a module: tensors, flags, hooks; the shapes of model(x)
    viz.optimizer(optimizer)             # parameters, gradients and state in bytes; the kernels of one step
    with viz.streams.watch() as seen:    # host and streams on a line of time: launches, waits, races
        y = x.to("sim") + 1              # then seen.picture; viz.streams("trace.json"): a PyTorch profiler's
    viz.profile(prof)                    # where the time went: lanes, a flame graph, a table; PyTorch's too
    viz.buckets(ddp)                     # which gradients travel together; viz.buckets.watch(ddp): what backward hides
    viz.zero(optimizer)                  # ZeroRedundancyOptimizer: which rank holds whose state
    viz.join(ranks)                      # uneven inputs: who shadows whose collectives; viz.join.watch() records them
    viz.trainer(trainer, model, loader)  # run a fit: which hooks it calls, in which order, whose they are
    viz.threads(kernel, 3, 4, out, x)    # run a CUDA kernel: which thread touches which element, barriers, warps
    viz.fusion(torch.compile(f))         # after a call: which operators one kernel computes, and the bytes that saves
    viz.strides(x.t())                   # which storage slot each element lives in, and why
    viz.strides(x.t(), view=(2, 6))      # may view() do this without copying?
    viz.index(x)[:, [0, 2]]              # which element of x each element of x[:, [0, 2]] reads
    viz.gather(x, 1, index)              # the same for x.gather(1, index), with the formula of each element
    viz.scatter(x, 1, index, src, "sum") # where each element of src goes, and which of them collide
    viz.sparse(x)                        # indices and values of a sparse tensor, and the grid they stand for
    viz.dispatch(torch.add, a, b)        # the path of one call: keys, kernels, compositions falling apart
    viz.dispatch.table("add", "linear")  # which operator has which kernel at which key
    viz.fx(graph_module)                 # an fx graph, shapes where known; before=: what a pass did to it
    viz.broadcast(a, (3, 1))             # which dims are stretched, why it fails, what backward sums

Only ``viz.play``, ``viz.loader``, ``viz.dispatch``, ``viz.threads`` and ``viz.module`` with an input run
anything of yours; the others read.

A notebook shows the picture by itself. Elsewhere, printing it gives text, and

    picture = viz.graph(loss)
    picture.show()                       # opens it in the web browser
    picture.save("graph.html")           # one file that needs no network; also .svg, .txt, .dot and .json

The path of a picture, and the file each stage lives in. A picture of the kind ``x`` has four files, and the ending of a
name says what is in it:

    tensor --> trace --> text | SVG | DOT --> picture

    x_trace.py    the public function viz.x; reads public attributes (grad_fn, next_functions ...) and writes a *trace*
    x_text.py     body(trace):    lines of Unicode
    x_svg.py      draw(trace):    an <svg> element
    x_dot.py      digraph(trace): a graphviz.Digraph

A trace (``trace.py``) is a small JSON value of nodes, edges, groups and steps. Nothing behind it sees a tensor, so a
picture never changes once it is made. ``text.py``, ``svg.py`` and ``dot.py`` pick the file by the trace's kind. The
kind ``graph`` also serves ``viz.play``, and ``picks`` serves ``gather``, ``scatter``, ``index`` and ``sparse``;
pictures of several kinds share ``cells_svg.py``, ``cells_dot.py`` and ``grids_svg.py``.

Where a trace takes more than reading, its parts have files with endings of their own:

    x_record.py, x_watch.py   watch something that runs, through hooks and the observer (also streams_chrome.py, which
                              reads a profiler's file, loader_twin.py, optimizer_step.py, play_again.py,
                              module_calls.py)
    x_facts.py, x_rule.py     what is so, before anything is said or drawn (also strides_geometry.py, threads_warp.py,
                              memory_replay.py, versions_past.py, fx_read.py, module_tree.py, view_rule.py)
    x_steps.py                the steps that the player shows
    x_notes.py, x_words.py, why_reasons.py    the sentences

All kinds use ``tensors.py``, ``names.py``, ``live.py`` (tensors alive anywhere) and ``engines.py`` (the library of a
tensor); graphs use ``walk.py``, ``engine_order.py``, ``collapse.py``, ``saved.py``, ``module_frames.py`` and
``graph_*.py``; what is drawn uses ``svg_parts.py``, ``strips.py``, ``wrap.py`` and ``theme.py`` (colours, light and
dark).

``picture.py`` wraps a trace as the object you hold: it shows itself in a notebook, has ``.text``, ``.source`` (DOT),
``.trace``, ``.show()`` and ``.save()``. ``html.py`` makes the interactive form, with ``player.js``, ``run.js`` for
``viz.play`` and ``memory.js`` for ``viz.memory``; ``viz.load("x.html")`` reads the trace back.

To add a picture ``x``: write the four files, and name the function in ``_HOME`` below and the kind in ``trace.KINDS``.
``tests/viz/test_every_picture.py`` then asks for the rest.
"""

from importlib import import_module

_HOME = {
    "graph": "viz.graph_trace",
    "play": "viz.play_trace",
    "strides": "viz.strides_trace",
    "gather": "viz.picks_trace",
    "scatter": "viz.picks_trace",
    "index": "viz.picks_trace",
    "broadcast": "viz.broadcast_trace",
    "diff": "viz.diff_trace",
    "sparse": "viz.sparse_trace",
    "dispatch": "viz.dispatch_trace",
    "fx": "viz.fx_trace",
    "grads": "viz.grads_trace",
    "versions": "viz.versions_trace",
    "why": "viz.why_trace",
    "holders": "viz.holders_trace",
    "loader": "viz.loader_trace",
    "optimizer": "viz.optimizer_trace",
    "module": "viz.module_trace",
    "memory": "viz.memory_trace",
    "streams": "viz.streams_trace",
    "buckets": "viz.buckets_trace",
    "zero": "viz.zero_trace",
    "join": "viz.join_trace",
    "profile": "viz.profile_trace",
    "fusion": "viz.fusion_trace",
    "trainer": "viz.trainer_trace",
    "threads": "viz.threads_trace",
    "load": "viz.picture",
    "Picture": "viz.picture",
    "Trace": "viz.trace",
}
__all__ = sorted(_HOME)


def __getattr__(name):
    """Import a public name when it is first used, so that ``import viz`` costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'viz' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_HOME))
