"""Grades race_detector.py."""

from exercises.grading import equal, points


def launch(name, stream, reads="", writes=""):
    return "launch", name, stream, set(reads), set(writes)


@points(1, "one stream has no races")
def test_one_stream(yours):
    program = [launch("make", 0, writes="x"), launch("use", 0, reads="x"), launch("change", 0, "x", "x")]
    equal(yours.races(program), [], "all three are in one stream, which runs them in order")


@points(1, "read after write")
def test_read_after_write(yours):
    program = [launch("make", 0, writes="x"), launch("use", 1, reads="x")]
    equal(yours.races(program), [("make", "use")], "two streams, and no order between them")


@points(1, "write after read")
def test_write_after_read(yours):
    program = [launch("use", 0, reads="x"), launch("change", 1, writes="x")]
    equal(yours.races(program), [("use", "change")], "the first reads what is about to be overwritten")


@points(1, "write after write")
def test_write_after_write(yours):
    program = [launch("one", 0, writes="x"), launch("two", 1, writes="x")]
    equal(yours.races(program), [("one", "two")], "which value stays?")


@points(1, "reading together, and other tensors, are no races")
def test_no_conflict(yours):
    program = [launch("a", 0, "x", "y"), launch("b", 1, "x", "z")]
    equal(yours.races(program), [], "both read x; y and z are other tensors")


@points(1, "an event orders")
def test_event_orders(yours):
    program = [
        launch("make", 0, writes="x"),
        ("record", "e", 0),
        ("wait", 1, "e"),
        launch("use", 1, reads="x"),
    ]
    equal(yours.races(program), [], "stream 1 waits for the event behind make")


@points(1, "an event covers what was there")
def test_event_covers_what_was_there(yours):
    program = [
        launch("early", 0, writes="y"),
        ("record", "e", 0),
        launch("make", 0, writes="x"),
        ("wait", 1, "e"),
        launch("use", 1, reads="xy"),
    ]
    equal(yours.races(program), [("make", "use")], "early is before the event, make is behind it")


@points(1, "events order one way")
def test_one_way(yours):
    program = [
        launch("a", 0, writes="x"),
        ("record", "e", 0),
        ("wait", 1, "e"),
        launch("b", 1, reads="x"),
        launch("c", 0, writes="x"),
    ]
    equal(yours.races(program), [("b", "c")], "stream 1 waits for stream 0, and nobody for stream 1")


@points(1, "a chain of waits orders")
def test_chain_of_waits(yours):
    program = [
        launch("make", 0, writes="x"),
        ("record", "e", 0),
        ("wait", 1, "e"),
        ("record", "f", 1),
        ("wait", 2, "f"),
        launch("use", 2, reads="x"),
    ]
    equal(yours.races(program), [], "0 before 1 before 2: a chain orders, too")


@points(1, "a host that has waited orders")
def test_host_orders(yours):
    program = [launch("make", 0, writes="x"), ("synchronize", 0), launch("use", 1, reads="x")]
    equal(yours.races(program), [], "the host has waited for make before it launches use")


@points(1, "record_stream orders nothing")
def test_record_stream_orders_nothing(yours):
    program = [launch("make", 0, writes="x"), ("record_stream", "x", 1), launch("use", 1, reads="x")]
    equal(yours.races(program), [("make", "use")], "record_stream keeps memory, and orders nothing")


@points(1, "an event never recorded orders nothing")
def test_never_recorded(yours):
    program = [launch("make", 0, writes="x"), ("wait", 1, "e"), launch("use", 1, reads="x")]
    equal(yours.races(program), [("make", "use")], "e was never recorded: stream 1 does not wait")
