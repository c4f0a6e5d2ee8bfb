"""Counts how often `events.language.timex` agrees with Microsoft's Recognizers-Text specifications.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/events/timex_eval.py [--misses]

Reads `time/recognizers_{en,zh}_dev.jsonl` under the folder. Counted by type are the expected values with
a date of their own: rows of the types set and timezone, clock times without a date, lengths of time and
values marked as not resolved are left out. An expectation is met when the finding that overlaps it most
has the start date (or the whole interval; for a moment, an instant that begins then) of any of its listed
values. Rows that expect nothing count as
false finds when anything with a start or an end is found.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from events.language.timex import Found, find

TYPES = ("date", "daterange", "datetime", "datetimerange")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--misses", action="store_true", help="print every expectation that was missed")
    chosen = options.parse_args()
    folder = os.environ.get("CARDLOG_EVAL_DATA")
    if not folder:
        print("skipped: CARDLOG_EVAL_DATA is not set")
        return 0
    for language in ("en", "zh"):
        rows = Path(folder, "time", f"recognizers_{language}_dev.jsonl").read_text("utf-8").splitlines()
        report(language, [json.loads(row) for row in rows], chosen.misses)
    return 0


def report(language: str, rows: list[dict[str, Any]], misses: bool) -> None:
    asked: Counter[str] = Counter()
    dates: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    negatives = false = 0
    missed: list[str] = []
    spent: list[float] = []
    for row in rows:
        reference = moment(row["reference"] or "2019-01-01T00:00:00")
        began = time.perf_counter()
        found = find(row["text"], reference)
        spent.append(time.perf_counter() - began)
        if not row["expected"]:
            negatives += 1
            if any(one.start or one.end for one in found):
                false += 1
                missed.append(f"{row['id']} FALSE {row['text']!r} -> {[shown(one) for one in found]}")
            continue
        for expected in row["expected"]:
            wanted = [pair for pair in map(interval, expected["values"] or []) if pair]
            if expected["type"] not in TYPES or not wanted:
                continue
            asked[expected["type"]] += 1
            best = overlapping(found, expected)
            got = (wall(best.start), wall(best.end)) if best else (None, None)
            same_date = best is not None and any(day(got[0]) == day(start) for start, _ in wanted)
            same = best is not None and any(
                got == pair or (pair[0] == pair[1] == got[0] and best.kind == "instant") for pair in wanted
            )
            dates[expected["type"]] += same_date
            whole[expected["type"]] += same
            if not same_date:
                missed.append(
                    f"{row['id']} DATE {row['text']!r} @{row['reference']} {expected['text']!r} wants "
                    f"{[[str(a), str(b)] for a, b in wanted]} got {shown(best) if best else None}"
                )
    print(f"{language}: {'type':14} {'asked':>5} {'start date':>10} {'interval':>9}")
    for kind in (*TYPES, "all"):
        number = sum(asked.values()) if kind == "all" else asked[kind]
        right = sum(dates.values()) if kind == "all" else dates[kind]
        exact = sum(whole.values()) if kind == "all" else whole[kind]
        if number:
            print(f"{language}: {kind:14} {number:5} {right / number:10.1%} {exact / number:9.1%}")
    print(
        f"{language}: false finds {false} of {negatives}; median {1e6 * sorted(spent)[len(spent) // 2]:.0f} µs a text"
    )
    if misses:
        print("\n".join(missed))


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text[:26]).replace(tzinfo=UTC)


def wall(value: datetime | None) -> datetime | None:
    return value.replace(tzinfo=None) if value else None


def day(value: datetime | None) -> object:
    return value.date() if value else None


def interval(value: dict[str, str]) -> tuple[datetime | None, datetime | None] | None:
    """Start and end of one listed value; None when it has no date or could not be resolved."""
    try:
        if "start" in value or "end" in value:
            start = datetime.fromisoformat(value["start"]) if "start" in value else None
            end = datetime.fromisoformat(value["end"]) if "end" in value else None
            if end is not None and (end.minute, end.second) == (59, 59):
                end += timedelta(seconds=1)
            return start, end
        start = datetime.fromisoformat(value["value"])
    except (KeyError, ValueError):
        return None
    if value["type"] == "date":
        return start, start + timedelta(days=1)
    return start, start


def overlapping(found: list[Found], expected: dict[str, Any]) -> Found | None:
    def shared(one: Found) -> int:
        return int(min(one.stop, expected["end_char"] + 1) - max(one.begin, expected["start_char"]))

    best = max(found, key=shared, default=None)
    return best if best is not None and shared(best) > 0 else None


def shown(one: Found) -> str:
    return f"{one.text!r} {wall(one.start)}..{wall(one.end)}"


if __name__ == "__main__":
    sys.exit(main())
