"""``cardlog when``: shows the times that a text names."""

import json
import sys
from datetime import UTC, datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from cyclopts import Parameter

from deploy.options import File, Json, instant_of
from events.language import timex
from events.language.timex.report import as_json as found_json
from events.types.turn_contract import zone_hint

Reading = Literal["statement", "question"]


def when(
    text: Annotated[str | None, Parameter(help="the text")] = None,
    /,
    *,
    at: Annotated[
        str | None, Parameter(metavar="INSTANT", help="the time of the text (ISO 8601; default: now)")
    ] = None,
    tz: Annotated[
        str | None, Parameter(metavar="ZONE", help="the IANA time zone of the text (default: that of --at)")
    ] = None,
    reading: Annotated[
        Reading, Parameter(name="--as", help="read the text as this (default: statement)")
    ] = "statement",
    jsonl: Annotated[
        File | None, Parameter(help='read lines {"text","reference"[,"tz"]}, print one line each')
    ] = None,
    as_json: Json = False,
) -> int:
    """Show the instants and time ranges that an English or Chinese text names."""
    if jsonl is not None:
        return _lines(jsonl, tz, reading)
    if text is None:
        print('cardlog when: give a text, such as cardlog when "last week", or --jsonl FILE', file=sys.stderr)
        return 2
    found = timex.find(text, _reference(at, tz), reading=reading)
    if as_json:
        print(json.dumps({"found": [found_json(item) for item in found]}, ensure_ascii=False))
        return 0
    for item in found:
        sides = [side.isoformat() if side else "…" for side in (item.start, item.end)]
        doubt = ", ambiguous" if item.ambiguous else ""
        print(
            f"{item.text}   {sides[0]} to {sides[1]}   ({item.kind}, {item.grain}, {item.confidence:.2f}{doubt})"
        )
    if not found:
        print("no time is named")
    return 0


def _lines(name: str, tz: str | None, reading: Reading) -> int:
    bad = 0
    with sys.stdin if name == "-" else open(name, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                item = json.loads(line)
                reference = _reference(str(item["reference"]), item.get("tz") or tz)
                found = timex.find(str(item["text"]), reference, reading=reading)
            except (ValueError, KeyError, TypeError) as error:
                bad += 1
                print(f"line {number}: {error}", file=sys.stderr)
                print(json.dumps({"found": []}))
                continue
            print(json.dumps({"found": [found_json(each) for each in found]}, ensure_ascii=False))
    return 1 if bad else 0


def _reference(text: str | None, zone: str | None) -> datetime:
    try:
        tz = ZoneInfo(zone) if zone else None
    except (KeyError, ValueError, OSError):
        raise ValueError(f"unknown time zone {zone!r}; {zone_hint(zone or '')}") from None
    if text is None:
        return datetime.now(tz or UTC)
    instant = instant_of("--at", text, "2026-05-08T16:44:10+08:00")
    if instant.tzinfo is None:
        return instant.replace(tzinfo=tz or UTC)
    return instant.astimezone(tz) if tz else instant
