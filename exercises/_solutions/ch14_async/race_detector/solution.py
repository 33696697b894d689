"""Find races between streams, from what the program asked for.

A program is a list of tuples, in the order of its lines:

    ("launch", name, stream, reads, writes)    a kernel; reads and writes are sets of tensor names
    ("record", event, stream)                  the event stands behind the work that the stream has so far
    ("wait", stream, event)                    later work of the stream comes after the event
    ("synchronize", stream)                    the host waits for the work that the stream has so far
    ("record_stream", tensor, stream)          the allocator keeps the tensor's memory until the stream is done

Two launches race if they touch one tensor, at least one of them writes it, and nothing orders them: no stream, no
event, no waiting host, and no chain of these. It does not matter which one happens to run first.
"""


def join(clock, other):
    """Let `clock` (stream -> how many of its launches are done) know all that `other` knows. For your use."""
    for stream, count in other.items():
        clock[stream] = max(clock.get(stream, 0), count)


def races(program):
    """The pairs of names of launches that race, the earlier line first, as a list in the order of the later one."""
    # solution
    host, streams, events, earlier, found = {}, {}, {}, [], []
    for kind, *rest in program:
        if kind == "launch":
            name, stream, reads, writes = rest
            clock = streams.setdefault(stream, {})
            join(clock, host)
            for other, where, number, read, wrote in earlier:
                conflict = wrote & (reads | writes) or read & writes
                if conflict and clock.get(where, 0) < number:
                    found.append((other, name))
            clock[stream] = clock.get(stream, 0) + 1
            earlier.append((name, stream, clock[stream], reads, writes))
        elif kind == "record":
            event, stream = rest
            events[event] = dict(streams.get(stream, {}))
        elif kind == "wait":
            stream, event = rest
            join(streams.setdefault(stream, {}), events.get(event, {}))
        elif kind == "synchronize":
            join(host, streams.get(rest[0], {}))
    return found
    # end of solution
