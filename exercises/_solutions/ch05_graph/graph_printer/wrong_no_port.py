"""Numbers an edge by its place instead of its port."""

FAILS = "test_ports"
SAYS = "goes to input 1 of its node"


def print_graph(root):
    numbers, found, lines = {root: 0}, [root], []
    for node in found:
        lines.append(f"{numbers[node]} {node.name()}")
        for following, _ in node.next_functions:
            if following is None:
                lines.append("  -> none")
                continue
            if following not in numbers:
                numbers[following] = len(found)
                found.append(following)
            lines.append(f"  -> {numbers[following]}[0]")
    return lines
