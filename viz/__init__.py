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

The path of a picture, and the file each stage lives in:

    tensor --> trace --> SVG + player | text | DOT

1. ``graph_trace.py``, ``play_trace.py``, ``why_trace.py``, ``grads_trace.py``, ``versions_trace.py``,
   ``diff_trace.py``, ``strides_trace.py``, ``picks_trace.py`` (gather, scatter, index), ``sparse_trace.py`` and
   ``broadcast_trace.py`` and ``module_trace.py`` read public attributes (``grad_fn``, ``next_functions``...)
   and write a *trace*: a small JSON value of nodes, edges, groups and steps (``trace.py``). Nothing after
   this stage sees a tensor, so a picture never changes once it is made.
   Their helpers: ``tensors.py``, ``names.py``, ``live.py`` (tensors alive anywhere) and ``engines.py`` (the
   library of a tensor); for graphs ``walk.py``, ``engine_order.py``, ``collapse.py``, ``saved.py``,
   ``module_frames.py`` and ``graph_*.py``; for runs ``play_record.py`` (hooks and the observer),
   ``play_steps.py``, ``play_again.py``, ``strips.py``; for the others ``why_facts.py``, ``why_reasons.py``,
   ``versions_facts.py``, ``versions_past.py``, ``versions_watch.py``, ``strides_*.py`` and ``view_rule.py``,
   ``picks_*.py``, ``broadcast_rule.py``, ``grids_svg.py``, ``module_tree.py`` and ``module_calls.py``;
   ``memory_replay.py``, ``memory_steps.py`` and ``memory_words.py`` replay an allocator's history;
   ``fx_read.py`` reads the nodes of an fx graph;
   ``dispatch_record.py`` (the observer) follows a call through the dispatcher;
   ``streams_record.py`` (the observer) and ``streams_chrome.py`` (a profiler's file) see what streams do;
   ``threads_record.py`` runs a CUDA kernel as Python, ``threads_warp.py`` judges a warp's addresses;
   ``profile_facts.py`` adds up the events of a profile;
   ``loader_record.py`` with ``loader_twin.py``, and ``optimizer_step.py`` run what they draw.
2. ``text.py``, ``svg.py`` and ``dot.py`` turn a trace into Unicode text, SVG and DOT. The kind of the trace
   picks the drawing code: ``<kind>_text.py``, ``<kind>_svg.py``, ``<kind>_dot.py``. ``theme.py`` holds the
   colours, light and dark.
3. ``picture.py`` wraps a trace as the object you hold: it shows itself in a notebook, has ``.text``,
   ``.source`` (DOT), ``.trace``, ``.show()`` and ``.save()``.
   ``html.py`` and ``player.js`` make the interactive form, with ``run.js`` for ``viz.play``;
   ``viz.load("x.html")`` reads the trace back.

To add a picture: write one function that makes a trace, and one drawing function per renderer.
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
