"""ARCHITECTURE.md is true: what it names is there, and what is there is named."""

import re
from pathlib import Path

import pytest

from tests.import_floors import FLOORS, FRONT, NEIGHBOURS, ROOF, floor_of, imports_of, module_name

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
OF_NOBODY = {"script.py"}          # a reader's own


def places_named():
    """Every path in the text: names that end in .py, .md or a slash."""
    return sorted(set(re.findall(r"[\w/]+\.(?:py|md)\b|[\w/]+/(?=[`\s,)]|$)", TEXT)) - OF_NOBODY)


def pairs_named():
    """(package, what it uses) of the table of neighbours."""
    table = TEXT[TEXT.index("| package | uses | since |"):].split("\n\n")[0]
    for row in table.splitlines()[2:]:
        importers, used = (re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:3])
        yield from ((importer, one) for importer in importers for one in used)


def packages_and_modules():
    names = {path.stem for path in (ROOT / "teachtorch").glob("*.py")}
    names |= {path.parent.name for path in (ROOT / "teachtorch").glob("*/__init__.py")}
    return names - {FRONT}


def pairs_imported():
    """(package, what it imports) above the floors, as the code has it."""
    users = packages_and_modules() - set(FLOORS) - ROOF
    for path in (ROOT / "teachtorch").rglob("*.py"):
        module = module_name(path.relative_to(ROOT))
        for found in imports_of(path.read_text(encoding="utf-8"), module, path.name == "__init__.py"):
            pair = floor_of(module), floor_of(found.module)
            if found.module.startswith("teachtorch.") and set(pair) <= users and pair[0] != pair[1]:
                yield pair


@pytest.mark.parametrize("place", places_named())
def test_every_path_that_is_named_is_there(place):
    assert (ROOT / place).exists() or (ROOT / "teachtorch" / place).exists()


def test_all_packages_and_modules_of_the_engine_are_named():
    floors = TEXT[TEXT.index("## The floors"):TEXT.index("Who knows whom")]
    named = {name.removesuffix(".py").rstrip("/") for name in re.findall(r"`([\w.]+/?)`", floors)}
    assert packages_and_modules() - named == set()


def test_the_neighbours_are_those_of_the_code():
    assert set(pairs_named()) == NEIGHBOURS == set(pairs_imported())
