"""Copies of short rows, as text for compiled loops: by vectors, whatever the row's length.

LLVM's own vector loops take several vectors at a time and leave a rest to a plain loop; the rows of images are often
nothing but rest. Here the last vector ends where the row ends and may overlap the one before; a row shorter than a
vector takes vectors of half the size, and so on.
All arrays are counted in elements from their first one, whatever their shape.
"""

__all__ = ["row_copies", "row_turns"]

COPY = '''
@njit(nogil=True, error_model="numpy")
def copy(source, at, to, place, count):
    """to[place : place + count] = source[at : at + count]."""
'''

HALVE = '''
@njit(nogil=True, error_model="numpy")
def halve(source, at, to, place, count):
    """The same for every second element of source."""
'''

SPREAD = '''
@njit(nogil=True, error_model="numpy")
def spread(source, at, from_step, to, place, to_step, count):
    """The same for every from_step-th element of source and every to_step-th of to."""
    for i in range(count):
        store(to, place + i * to_step, load(source, at + i * from_step, 1))
'''

TURN = '''
@njit(nogil=True, error_model="numpy")
def turn(source, at, apart, to, place, step, count):
    """to[place + i * step + r] = source[at + r * apart + i], for r < {rows} and i < count."""
'''


def row_copies(lanes):
    """The text of copy, halve and spread; lanes: of the largest vector."""
    pair = "every_second(load(source, at + 2 * {i}, {n}), load(source, at + 2 * {i} + {n} - 1, {n}))"
    return (
        COPY + by_vectors(lanes, ["store(to, place + {i}, load(source, at + {i}, {n}))"])
        + HALVE + by_vectors(lanes, [f"store(to, place + {{i}}, {pair})"])
        + SPREAD
    )  # fmt: skip


def row_turns(lanes, rows):
    """The text of turn, which turns `rows` rows, a power of two, into columns."""
    return TURN.format(rows=rows) + by_vectors(lanes, turned(rows))


def by_vectors(lanes, lines):
    """The body of a function that does `lines` for elements {i} to {i} + {n} until all `count` are done; n: `lanes`,
    or, for short rows, half as many, and so on."""
    text, word, n = "", "if", lanes
    while n:
        every = [line.format(i="i", n=n, half=n // 2) for line in expanded(lines, n)]
        last = [line.format(i=f"(count - {n})", n=n, half=n // 2) for line in expanded(lines, n)]
        text += f"    {word} count >= {n}:\n        for i in range(0, count - {n}, {n}):\n"
        text += "".join([f"            {line}\n" for line in every])
        text += "".join([f"        {line}\n" for line in last])
        word, n = "elif", n // 2
    return text + "\n"


def expanded(lines, n):
    """The lines, or what a function makes of the number of lanes."""
    return lines(n) if callable(lines) else lines


def turned(rows):
    """A function from the number of lanes to the lines that turn one vector of each row.

    Rows r and r + rows / 2 interleaved, then r and r + rows / 4 of these, ... are place by place what all rows hold."""

    def lines(n):
        found = [f"r{r} = load(source, at + {r} * apart + {{i}}, {n})" for r in range(rows)]
        held = [[f"r{r}"] for r in range(rows)]
        while len(held) > 1:
            pairs = list(zip(held[: len(held) // 2], held[len(held) // 2 :]))
            held = []
            for ours, theirs in pairs:
                joined = []
                for a, b in zip(ours, theirs):
                    for half in (0, 1):
                        joined.append(f"v{len(found)}")
                        found.append(f"{joined[-1]} = interleaved({a}, {b}, {half})")
                held.append(joined)
        size = min(n, rows)
        for j, vector in enumerate(held[0]):
            for first in range(0, n, size):
                flat = j * n + first
                found.append(
                    f"store(to, place + ({{i}} + {flat // rows}) * step + {flat % rows}, "
                    f"part({vector}, {first}, {size}))"
                )
        return found

    return lines
