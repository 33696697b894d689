"""Follows one edge to its end before the next one."""

FAILS = "test_order"
SAYS = "then both nodes that its edges lead to"


def print_graph(root):
    numbers, waiting, lines = {}, [root], []
    while waiting:
        node = waiting.pop()
        if node not in numbers:
            numbers[node] = len(numbers)
            waiting += [each for each, _ in reversed(node.next_functions) if each is not None]
    for node in numbers:
        lines.append(f"{numbers[node]} {node.name()}")
        for following, input_nr in node.next_functions:
            if following is None:
                lines.append("  -> none")
                continue
            lines.append(f"  -> {numbers[following]}[{input_nr}]")
    return lines
