"""TEACHTORCH_LOG=dispatch,autograd,memory,compile: print what happens, one line an event, to stderr."""
import sys

from . import observer, settings

# What a topic of TEACHTORCH_LOG listens to.
TOPICS = {"dispatch": ("dispatch",), "autograd": ("node", "backward", "inplace"), "memory": ("memory",),
          "compile": ("compile",)}


def start():
    """Subscribe to what the environment asks for; an unknown topic is named on stderr, and the others are heard."""
    wanted = settings.log_topics()
    unknown = sorted(wanted - set(TOPICS))
    if unknown:
        # Not an error: a slip in an environment variable must not keep a program from importing the library.
        print(f"TEACHTORCH_LOG: unknown topic {', '.join(unknown)}; known are {', '.join(TOPICS)}", file=sys.stderr)
    topics = [name for topic in sorted(wanted & set(TOPICS)) for name in TOPICS[topic]]
    if topics:
        observer.subscribe(print_event, *topics)


def print_event(topic, fields):
    print(f"[{topic}] {line_of(topic, fields)}", file=sys.stderr)


def line_of(topic, fields):
    """One event in words."""
    if topic == "dispatch":
        return "  " * fields["depth"] + f"{fields['op']} -> {fields['key']}"
    if topic == "compile":
        return line_of_compile(fields)
    if topic == "inplace":
        return f"version {fields['version']}"
    if topic == "memory":
        return memory_line(fields)
    name = fields["node"].name()
    return name if topic == "node" else f"{fields['phase']} {name}"


def memory_line(fields):
    """One action of an allocator, or, indented, one step of a decision."""
    left_out = ("action", "step", "device", "addr")
    numbers = ", ".join(f"{name} {value}" for name, value in fields.items() if name not in left_out)
    name = f"  {fields['step']}" if fields["action"] == "step" else fields["action"]
    return f"{name}: {numbers}"


def line_of_compile(fields):
    """What the compiler did: a graph, a group with its kernel's source, or why there is none."""
    action, name = fields["action"], fields["name"]
    if action == "captured":
        return f"{name}: captured\n{graph_text(fields['graph'])}"
    if action == "kernel":
        head = f"{name}: {', '.join(fields['values'])}; {fields['bytes_before']:,} bytes before, " \
               f"{fields['bytes_after']:,} after"
        return f"{head}\n{fields['source']}"
    words = {"fallback": "runs without a graph", "recompile": "captured anew, because of",
             "limit": "captured too often, the last time because of"}
    return f"{name}: {words[action]}{':' * (action == 'fallback')} {fields['reason']}"


def graph_text(graph):
    """One node a line."""
    return "\n".join([f"    {node.format_node()}" for node in graph.nodes])
