"""Points per property: for a person, as JSON lines, as Gradescope's results.json; and over a class."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from exercises import show
from exercises.runner import Outcome, Result

FIELDS = ("exercise", "property", "title", "points", "score", "status", "message")


def text(results: list[Result]) -> str:
    """The table for a person: each exercise, each property, the sum."""
    parts = [show.details(result) for result in results]
    total, most = sum(r.score for r in results), sum(r.exercise.points for r in results)
    return "\n\n".join([*parts, f"total: {total} of {most} points"])


def rows(results: list[Result]) -> list[dict]:
    """One flat record for each property."""
    return [_row(result, outcome) for result in results for outcome in result.outcomes]


def jsonl(results: list[Result]) -> str:
    """One JSON object a line, one line a property."""
    return "".join(json.dumps(row) + "\n" for row in rows(results))


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


def class_report(reports: list[list[dict]]) -> str:
    """Over several learners: which property fails most, and the answer that is given there most often."""
    failed = [record for report in reports for record in report if record["status"] != "passed"]
    counts = Counter(_key(record) for record in failed)
    titles = {_key(record): record["title"] for record in failed}
    lines = [f"{len(reports)} reports, {_mean(reports):.1f} points on average"]
    lines += [f"  failed by {count:>3}   {key[0]:<18} {titles[key]}" for key, count in counts.most_common()]
    return "\n".join(lines + (_worst(failed, *counts.most_common(1)[0]) if counts else ["nothing failed"]))


def _worst(failed: list[dict], key: tuple[str, str], count: int) -> list[str]:
    messages = Counter(record["message"] for record in failed if _key(record) == key)
    message, times = messages.most_common(1)[0]
    return [
        "",
        f"fails most: {key[0]}, {key[1]}. Most often ({times} of {count}) so:",
        show.indented(message),
    ]


def _mean(reports: list[list[dict]]) -> float:
    return sum(record["score"] for report in reports for record in report) / max(len(reports), 1)


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
