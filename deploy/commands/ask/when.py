"""``cardlog when``: shows the times that a text names."""

import json
import sys
from datetime import UTC, datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from cyclopts import Parameter

from deploy.options import Answer, File, Json, OptionInvalidError, instant_of
from events.language import timex
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
) -> Answer | int:
    """Show the instants and time ranges that an English or Chinese text names."""
    if jsonl is not None:
        return _lines(jsonl, tz, reading)
    if text is None:
        raise OptionInvalidError('give a text, such as cardlog when "last week", or --jsonl FILE')
    found = timex.find(text, _reference(at, tz), reading=reading)
    lines = [
        f"{item.text}   {item.start.isoformat() if item.start else '…'} to "
        f"{item.end.isoformat() if item.end else '…'}   "
        f"({item.kind}, {item.grain}, {item.confidence:.2f}{', ambiguous' if item.ambiguous else ''})"
        for item in found
    ]
    return Answer({"found": [item.as_json() for item in found]}, lines or ["no time is named"])


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
            print(json.dumps({"found": [each.as_json() for each in found]}, ensure_ascii=False))
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
