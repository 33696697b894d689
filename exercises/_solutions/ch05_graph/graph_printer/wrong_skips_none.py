"""Leaves out the edges to nothing."""

FAILS = "test_none"
SAYS = "the empty one is shown too"


def print_graph(root):
    numbers, found, lines = {root: 0}, [root], []
    for node in found:
        lines.append(f"{numbers[node]} {node.name()}")
        for following, input_nr in node.next_functions:
            if following is None:
                continue
            if following not in numbers:
                numbers[following] = len(found)
                found.append(following)
            lines.append(f"  -> {numbers[following]}[{input_nr}]")
    return lines
