"""Points per property: for a person, as JSON lines, as Gradescope's results.json; and over a class."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from exercises import show
from exercises.results import Outcome, Result

FIELDS = ("exercise", "property", "title", "points", "score", "status", "message")
NOT_STARTED = ("todo", "no file")
NO_FAILURE = ("passed", "not run", *NOT_STARTED)
MOST_PROPERTIES = 10


def text(results: list[Result]) -> str:
    """The table for a person: each exercise, each property, the sum."""
    parts = [show.details(result) for result in results]
    total, most = sum(r.score for r in results), sum(r.exercise.points for r in results)
    return "\n\n".join([*parts, f"total: {total} of {most} points"])


def rows(results: list[Result], learner: str = "") -> list[dict]:
    """One flat record for each property. learner: the name of whose results these are."""
    return [
        {"learner": learner, **_row(result, outcome)} for result in results for outcome in result.outcomes
    ]


def jsonl(records: list[dict]) -> str:
    """One JSON object a line, one line a record."""
    return "".join(json.dumps(record) + "\n" for record in records)


def gradescope(results: list[Result]) -> dict:
    """The content of Gradescope's `results.json`."""
    tests = [_gradescope_test(row, number + 1) for number, row in enumerate(rows(results))]
    return {
        "score": float(sum(test["score"] for test in tests)),
        "execution_time": round(sum(result.seconds for result in results), 3),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "output": "\n".join(f"{r.exercise.name}: {r.score} of {r.exercise.points} points" for r in results),
        "tests": tests,
    }


def read(path: Path) -> list[dict]:
    """The records of a file that `report --jsonl` wrote; ValueError names the line that is none."""
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        record = _parsed(line)
        if not isinstance(record, dict) or not all(name in record for name in FIELDS):
            raise ValueError(f"{path}, line {number}: this is not a line of `report --jsonl`")
        records.append(record)
    return records


def by_learner(records: list[dict], name: str) -> list[tuple[str, list[dict]]]:
    """The records of each learner. name: of the learner whose records carry none."""
    found: dict[str, list[dict]] = {}
    for record in records:
        found.setdefault(record.get("learner") or name, []).append(record)
    return list(found.items())


def class_report(reports: list[tuple[str, list[dict]]]) -> str:
    """Over several learners: the points of each, and which properties fail most where they were started.

    reports: pairs of a learner's name and records.
    """
    width = max((len(name) for name, _ in reports), default=0)
    lines = [_learner(name.ljust(width), records) for name, records in reports]
    return "\n".join(
        [*lines, f"{len(reports)} learners, {_mean(reports):.1f} points on average", *_top(reports)]
    )


def _learner(name: str, records: list[dict]) -> str:
    exercises = {record["exercise"] for record in records}
    passed = exercises - {record["exercise"] for record in records if record["status"] != "passed"}
    started = _started(records)
    score, most = (sum(record[field] for record in records) for field in ("score", "points"))
    return (
        f"{name}  {score:>4} of {most} points   {len(passed):>2} passed, {len(started - passed):>2} not yet, "
        f"{len(exercises - started):>2} not started"
    )


def _started(records: list[dict]) -> set[str]:
    """The exercises in which something was written."""
    return {record["exercise"] for record in records if record["status"] not in NOT_STARTED}


def _top(reports: list[tuple[str, list[dict]]]) -> list[str]:
    """The properties that fail most, and the answer that is given most often to the first of them."""
    tried = [record for _, records in reports for record in _of_started(records)]
    failed = [record for record in tried if record["status"] not in NO_FAILURE]
    if not failed:
        return ["nothing failed in the exercises that were started"]
    counts = Counter(map(_key, failed)).most_common(MOST_PROPERTIES)
    lines = [_property(key, count, [each for each in tried if _key(each) == key]) for key, count in counts]
    return ["", "fail most, among those who started the exercise:", *lines, *_worst(failed, *counts[0])]


def _of_started(records: list[dict]) -> list[dict]:
    started = _started(records)
    return [record for record in records if record["exercise"] in started]


def _property(key: tuple[str, str], count: int, records: list[dict]) -> str:
    unwritten = sum(record["status"] in NOT_STARTED for record in records)
    more = f" ({unwritten} not written yet)" if unwritten else ""
    return f"  {count:>3} of {len(records):<3}  {key[0]:<18} {records[0]['title']}{more}"


def _worst(failed: list[dict], key: tuple[str, str], count: int) -> list[str]:
    records = [record for record in failed if _key(record) == key]
    message, times = Counter(record["message"] for record in records).most_common(1)[0]
    return [
        "",
        f"fails most: {key[0]}, {records[0]['title']}. Most often ({times} of {count}) so:",
        show.indented(message),
    ]


def _mean(reports: list[tuple[str, list[dict]]]) -> float:
    return sum(record["score"] for _, records in reports for record in records) / max(len(reports), 1)


def _key(record: dict) -> tuple[str, str]:
    return record["exercise"], record["property"]


def _row(result: Result, outcome: Outcome) -> dict:
    spoiled = bool(result.problem)
    return {
        "exercise": result.exercise.name,
        "set": result.exercise.set,
        "property": outcome.property.name,
        "title": outcome.property.title,
        "points": outcome.property.points,
        "score": 0 if spoiled else outcome.score,
        "status": result.problem if spoiled else outcome.kind,
        "message": result.message if spoiled else outcome.message,
        "printed": outcome.printed,
        "seconds": outcome.seconds,
        "seed": result.seed,
    }


def _gradescope_test(row: dict, number: int) -> dict:
    return {
        "name": f"{row['exercise']}: {row['title']}",
        "number": str(number),
        "score": float(row["score"]),
        "max_score": float(row["points"]),
        "status": "passed" if row["status"] == "passed" else "failed",
        "output": row["message"],
        "output_format": "text",
        "tags": [row["set"], row["exercise"], row["property"]],
        "visibility": "visible",
    }


def _parsed(line: str):
    try:
        return json.loads(line)
    except ValueError:
        return None
