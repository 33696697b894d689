"""Prints a shared node once for each edge."""

FAILS = "test_shared"
SAYS = "one node with one number"


def print_graph(root):
    found, lines = [root], []
    for number, node in enumerate(found):
        lines.append(f"{number} {node.name()}")
        for following, input_nr in node.next_functions:
            if following is None:
                lines.append("  -> none")
                continue
            found.append(following)
            lines.append(f"  -> {len(found) - 1}[{input_nr}]")
    return lines
