"""Thinks that one device runs the lines of a program in order."""

FAILS = "test_read_after_write"
SAYS = "no order"


def join(clock, other):
    """Let `clock` (stream -> how many of its launches are done) know all that `other` knows. For your use."""
    for stream, count in other.items():
        clock[stream] = max(clock.get(stream, 0), count)


def races(program):
    """The pairs of names of launches that race, the earlier line first, as a list in the order of the later one."""
    host, streams, events, earlier, found = {}, {}, {}, [], []
    for kind, *rest in program:
        if kind == "launch":
            name, stream, reads, writes = rest
            clock = streams.setdefault(stream, {})
            join(clock, host)
            for other, where, number, read, wrote in earlier:
                conflict = wrote & (reads | writes) or read & writes
                if conflict and clock.get(where, 0) < number and where is None:
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
