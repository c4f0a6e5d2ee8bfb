"""``cardlog when``: which times a text names."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from events import timex
from events.settings import Settings
from events.timex.report import as_json


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "when",
        help="show which times a text names",
        description="Show the instants and ranges a text names, in English or Chinese.",
    )
    parser.add_argument("text", nargs="?", help="the text")
    parser.add_argument(
        "--at", default=None, metavar="INSTANT", help="when it was said (ISO 8601; default: now)"
    )
    parser.add_argument(
        "--tz", default=None, metavar="ZONE", help="IANA zone it was said in (default: that of --at)"
    )
    parser.add_argument(
        "--as", dest="reading", choices=("statement", "question"), default="statement", help="how it is meant"
    )
    parser.add_argument(
        "--jsonl",
        metavar="FILE",
        default=None,
        help='read lines {"text","reference"[,"tz"]}, print one line each',
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, settings: Settings) -> int:
    if options.jsonl is not None:
        return _lines(options)
    if options.text is None:
        print('cardlog when: give a text, such as cardlog when "last week", or --jsonl FILE', file=sys.stderr)
        return 2
    found = timex.find(options.text, _reference(options.at, options.tz), reading=options.reading)
    if options.json:
        print(json.dumps({"found": [as_json(item) for item in found]}, ensure_ascii=False))
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


def _lines(options: argparse.Namespace) -> int:
    bad = 0
    with sys.stdin if options.jsonl == "-" else open(options.jsonl, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                item = json.loads(line)
                reference = _reference(str(item["reference"]), item.get("tz") or options.tz)
                found = timex.find(str(item["text"]), reference, reading=options.reading)
            except (ValueError, KeyError, TypeError) as error:
                bad += 1
                print(f"line {number}: {error}", file=sys.stderr)
                print(json.dumps({"found": []}))
                continue
            print(json.dumps({"found": [as_json(each) for each in found]}, ensure_ascii=False))
    return 1 if bad else 0


def _reference(text: str | None, zone: str | None) -> datetime:
    try:
        tz = ZoneInfo(zone) if zone else None
    except (KeyError, ValueError, OSError):
        raise ValueError(f"unknown time zone {zone!r}; use an IANA name such as Asia/Taipei") from None
    if text is None:
        return datetime.now(tz or UTC)
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"--at {text!r} is not ISO 8601, such as 2026-05-08T16:44:10+08:00") from None
    if instant.tzinfo is None:
        return instant.replace(tzinfo=tz or UTC)
    return instant.astimezone(tz) if tz else instant
