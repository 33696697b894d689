"""The hashes of the test files as shipped. After changing a test file: `python -m exercises.manifest`."""

from __future__ import annotations

import functools
import hashlib
import json
from pathlib import Path

from exercises import catalog

FILE = catalog.PACKAGE / "manifest.json"


def is_genuine(test: Path) -> bool:
    """Whether the test file is the one that was shipped."""
    return shipped().get(_key(test)) == hash_of(test)


def hash_of(test: Path) -> str:
    """The sha256 of a test file, whatever its line ends."""
    return hashlib.sha256(test.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def current() -> dict[str, str]:
    """The hashes of the test files as they are now."""
    return {_key(each.test): hash_of(each.test) for each in catalog.exercises()}


@functools.cache
def shipped() -> dict[str, str]:
    """The hashes as shipped."""
    return json.loads(FILE.read_text())


def _key(test: Path) -> str:
    return test.relative_to(catalog.PACKAGE).as_posix()


if __name__ == "__main__":
    FILE.write_text(json.dumps(current(), indent=2) + "\n")
