"""Signed events: one JSON line each, with a number and a keyed hash, so that printing one forges nothing."""

from __future__ import annotations

import hashlib
import hmac
import json


class Signer:
    """Writes events to a binary stream. key: the secret of this run, known to parent and child."""

    def __init__(self, stream, key: bytes) -> None:
        self._stream = stream
        self._key = key
        self._number = 0

    def send(self, event: dict) -> None:
        """Write one event and flush it."""
        body = json.dumps({"number": self._number, **event})
        self._number += 1
        self._stream.write(f"{_hash(self._key, body)} {body}\n".encode())
        self._stream.flush()


class Reader:
    """Reads the lines that a Signer wrote; counts those that it did not."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._number = 0
        self.forged = 0

    def read(self, line: bytes) -> dict | None:
        """The event on this line, or None when its hash or its number is wrong."""
        signature, _, body = line.decode("utf-8", "replace").rstrip("\n").partition(" ")
        genuine = hmac.compare_digest(signature.encode(), _hash(self._key, body).encode())
        event = json.loads(body) if genuine else {}
        if event.get("number") != self._number:
            self.forged += 1
            return None
        self._number += 1
        return event


def _hash(key: bytes, body: str) -> str:
    return hmac.new(key, body.encode(), hashlib.sha256).hexdigest()
