"""`teachtorch coverage`: does teachtorch have what a script needs of torch?"""
import json
import sys
from pathlib import Path

from teachtorch.cli import names
from teachtorch.cli.needs import needs_of

COMPLETE, LACKING, UNREADABLE = 0, 1, 2


class Entry:
    """A name of torch that the scripts need, and where."""

    def __init__(self, name):
        self.name = name
        self.lines = []                     # (script, line)
        self.guarded = True                 # as long as every use is
        self.certain = False                # as long as no use is
        self.missing = names.resolve(name)[1]

    def as_json(self):
        return {"name": self.name, "there": self.missing is None,
                "only_if_asked": self.guarded, "certain": self.certain,
                "lines": [f"{script}:{line}" for script, line in self.lines],
                "nearest": names.nearest(self.missing) if self.missing else None,
                "in_pytorch": names.is_pytorchs(self.name)}


class Coverage:
    """What some scripts need of torch.

    Args:
        scripts: paths of Python files. OSError, SyntaxError, UnicodeDecodeError if one cannot be read.
    """

    def __init__(self, scripts):
        self.scripts = [str(script) for script in scripts]
        self.entries, self.packages = {}, {}
        for script in self.scripts:
            self.read(script)

    def read(self, script):
        found = needs_of(Path(script).read_bytes(), script)
        for need in found.needs:
            entry = self.entries.setdefault(need.name, Entry(need.name))
            if (script, need.line) not in entry.lines:
                entry.lines.append((script, need.line))
            entry.guarded = entry.guarded and need.guarded
            entry.certain = entry.certain or need.certain
        for package, line in found.packages.items():
            self.packages.setdefault(package, f"{script}:{line}")

    def sorted(self):
        return sorted(self.entries.values(), key=lambda entry: entry.name)

    def lacking(self):
        """All entries that are not there; of torch.fft and torch.fft.rfft only the latter."""
        lacking = [entry for entry in self.sorted() if entry.missing]
        return [e for e in lacking if not any(other.name.startswith(e.name + ".") for other in lacking)]

    def there(self):
        return [entry for entry in self.sorted() if entry.missing is None]

    def missing(self):
        """Entries that are not there and that the script would run into."""
        return [entry for entry in self.lacking() if entry.certain and not entry.guarded]

    def uncertain(self):
        """Entries that are not there, but may be attributes of something that is no tensor."""
        return [entry for entry in self.lacking() if not entry.certain]

    def optional(self):
        """Entries that are not there, but only used where the script has asked or catches the error."""
        return [entry for entry in self.lacking() if entry.certain and entry.guarded]

    def as_json(self):
        return {"scripts": self.scripts, "needs": len(self.there()) + len(self.lacking()), "there": len(self.there()),
                "missing": [entry.as_json() for entry in self.missing()],
                "missing_if_tensors": [entry.as_json() for entry in self.uncertain()],
                "missing_only_if_asked": [entry.as_json() for entry in self.optional()],
                "all": [entry.as_json() for entry in self.sorted()],
                "other_packages": self.packages}


def coverage(scripts, as_json=False, show_all=False):
    """Print what teachtorch has of what the scripts need.

    Returns:
        0 if it has all, 1 if something is missing, 2 if a script cannot be read.
    """
    try:
        found = Coverage(scripts)
    except FileNotFoundError as error:
        print(f"teachtorch: no such script: {error.filename}", file=sys.stderr)
        return UNREADABLE
    except (OSError, SyntaxError, ValueError) as error:
        print(f"teachtorch: {error}", file=sys.stderr)
        return UNREADABLE
    print(json.dumps(found.as_json(), indent=2) if as_json else report(found, show_all))
    return LACKING if found.missing() else COMPLETE


def report(found, show_all):
    """The findings as text."""
    there, lacking = len(found.there()), len(found.lacking())
    lines = [f"{', '.join(found.scripts)}: {there + lacking} names of torch, {there} of them in teachtorch."]
    lines += section("Missing:", found.missing())
    lines += section("Missing, if these are attributes of tensors:", found.uncertain())
    lines += section("Missing, but the script asks first or catches the error:", found.optional())
    if found.packages:
        lines += ["", "Packages that need PyTorch itself:"]
        lines += [f"  {package}  ({where})" for package, where in found.packages.items()]
    if show_all:
        lines += ["", "There:"] + [f"  {entry.name}" for entry in found.there()]
    return "\n".join(lines)


def section(title, entries):
    lines = []
    for entry in entries:
        lines.append(f"  {entry.name}  ({places(entry)})")
        near = names.nearest(entry.missing)
        if names.is_pytorchs(entry.name) is False:
            lines.append("      PyTorch 2.13 has no such name either")
        lines.append(f"      nearest: {near}" if near else "      nothing like it is there")
    return ["", title, *lines] if lines else []


def places(entry, most=3):
    """Where a name is used: the first lines, by file."""
    shown = ", ".join(f"{Path(script).name}:{line}" for script, line in entry.lines[:most])
    return shown + (f" and {len(entry.lines) - most} more" if len(entry.lines) > most else "")
