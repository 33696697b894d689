"""The one way to watch teachtorch at work.

Dispatcher, engine, allocator, streams and DataLoader report here; the profiler, the log, the memory history,
the stream sanitizer and the pictures subscribe. While nobody has subscribed a report costs its caller one `if
active:`.

    with observer.watching(print, "dispatch"):
        a + b

Topics and the fields of their events:
    dispatch   op (name), key (of the kernel chosen), keys (the set it was chosen from, dispatch/keys.py),
               depth, args: a kernel runs; a call is reported once for each key on its way down
    returned   op (name), result   a kernel reported under "dispatch" has ended; result None after an error
    call       phase ("start", "end"), op (name), args; at the end result (None after an error): a call of an
               operator, once, whatever keys it passes
    function   phase ("start", "end"), call, name, args; at the end result: a public function that is no
               operator
    annotation phase ("start", "end"), block, name   a record_function block
    node       node   a node was added to the graph
    backward   phase, node; and by phase: roots ("start", "end"), grads ("node": it runs now), results
               ("done"), error ("failed")
    inplace    tensor, version   a version counter was bumped
    memory     action, device (its index); "alloc", "free_requested", "free_completed", "segment_alloc",
               "segment_free", "segment_map", "segment_unmap", "oom" with addr (oom: the device's free bytes),
               size, stream (and `rounded`, the block's size, for blocks, `pool` for segments); "step" with
               step ("round", "pool", "candidate", "refused", "miss", "retry", "split", "merge") and the
               numbers of that step
    stream     action: what happens on an accelerator's streams, and the host's time; by action: launch
               (launch, begin), begin and end (launch; from the stream's own thread), record and wait (event,
               mark, stream), synchronize (scope: "stream", "event" or "device", begin), query (scope: the
               host was told that a stream or an event is done), alloc, free and record_stream (address,
               stream, site; nbytes)
    compile    action, name (the function's or the kernel's); by action: graph ("captured"), values,
               bytes_before, bytes_after and source ("kernel"), reason ("fallback", "recompile", "limit")
    trainer    phase ("start", "end"), hook (or step) of a Trainer's run, who ("module", "default" if it has
               not defined this hook, or the callback's class), defined (whether there is anything to do),
               stage, epoch, batch
    collective phase ("start", "end"), name, group, number (of the group's collectives), nbytes, begun,
               arrival (on a simulated link, else 0), time: an operation among ranks
    ddp        phase, time: DistributedDataParallel; by phase: "buckets" (buckets, nbytes, names), "ready"
               (parameter, bucket), "launch" (bucket, nbytes), "waiting", "arrived" (bucket), "finished"
    join       phase: "joined" (this rank shadows from now on), "ending" (the hooks at the end), "ended"
    loader     phase ("dealt", "arrived", "given"), epoch, task, worker, time: a DataLoader's batches on their
               way
"""
from contextlib import contextmanager

active = False                    # whether anyone watches; read on the hot path
sees_kernels = False              # whether anyone asked for "dispatch" or "returned"
# (callback, topics or None for all); this and the next are replaced, never changed: a report may be under way
_subscribers = ()
_listeners = {}                   # topic -> the callbacks that hear of it; None -> those that hear of every topic


def subscribe(callback, *topics):
    """Call `callback(topic, fields)` for every event of the topics (all topics if none is named)."""
    _set_subscribers((*_subscribers, (callback, frozenset(topics) or None)))


def unsubscribe(callback):
    """Undo subscribe. ValueError if the callback is not subscribed."""
    for i, entry in enumerate(_subscribers):
        if entry[0] == callback:
            _set_subscribers((*_subscribers[:i], *_subscribers[i + 1:]))
            return
    raise ValueError("the callback is not subscribed")


def _set_subscribers(subscribers):
    global active, sees_kernels, _subscribers, _listeners
    _subscribers = subscribers
    named = {topic for _, topics in subscribers for topic in topics or ()}
    _listeners = {topic: tuple([callback for callback, topics in subscribers if topics is None or topic in topics])
                  for topic in (None, *named)}
    active = bool(_subscribers)
    sees_kernels = any([topics is None or topics & {"dispatch", "returned"} for _, topics in _subscribers])


@contextmanager
def watching(callback, *topics):
    """Subscribe for the length of a `with` block."""
    subscribe(callback, *topics)
    try:
        yield callback
    finally:
        unsubscribe(callback)


def report(topic, **fields):
    """Tell everyone who asked for `topic`. Callers check `observer.active` first."""
    listeners = _listeners
    for callback in listeners.get(topic) or listeners.get(None, ()):
        callback(topic, fields)
