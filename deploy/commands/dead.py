"""``cardlog dead``: turns that broke the contract, and what becomes of them."""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deploy.instance import find
from events.settings import Settings
from events.streams import connect_redis
from events.turn import FIELDS, TurnInvalidError
from ingest.dead_letters import DeadLetter, DeadLetters


def register(subparsers: Any) -> None:
    dead = subparsers.add_parser(
        "dead",
        help="turns that broke the contract: list, show, retry, drop",
        description="A turn that breaks the contract is kept on the stream turns:dead with field and reason. Look at "
        "it, mend it and push it again, or decide to drop it.",
    )
    verbs = dead.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="every dead turn with field and reason, oldest first")
    listing.add_argument("--limit", type=int, default=None, help="at most so many")
    listing.set_defaults(run=run_list)
    show = verbs.add_parser("show", help="one dead turn in full, every field as it was pushed")
    show.add_argument("id", metavar="ID", help="as listed, or the id the turn was pushed under")
    show.set_defaults(run=run_show)
    retry = verbs.add_parser(
        "retry",
        help="push dead turns again, mended",
        description="Push dead turns again, as they were or mended: cardlog dead retry --all --set timezone=UTC. A "
        "turn keeps the time it was first pushed at, and counts once however often it is retried. One that would "
        "still break the contract stays where it is, and the exit status is 1.",
    )
    _chosen(retry)
    retry.add_argument(
        "--set", action="append", default=[], metavar="FIELD=VALUE", help="set a field first; may be repeated"
    )
    retry.add_argument("--unset", action="append", default=[], metavar="FIELD", help="leave a field out")
    retry.set_defaults(run=run_retry)
    drop = verbs.add_parser(
        "drop",
        help="give dead turns up",
        description="Give dead turns up. They move to the stream turns:dropped with your reason (it keeps the latest "
        "10,000), and how many were dropped is counted for ever.",
    )
    _chosen(drop)
    drop.add_argument("--because", default="dropped by hand", metavar="WHY", help="kept on record")
    drop.set_defaults(run=run_drop)
    for parser in (listing, show, retry, drop):
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")


def _chosen(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="as listed")
    parser.add_argument("--all", action="store_true", help="every dead turn there is")


def _open(options: argparse.Namespace, settings: Settings) -> DeadLetters:
    settings, _ = find(settings, options.data)
    client = connect_redis(settings.redis_url, socket_timeout=30, socket_connect_timeout=5)
    return DeadLetters(client, settings.turns_stream)


def run_list(options: argparse.Namespace, settings: Settings) -> int:
    letters = _open(options, settings)
    shown = 0
    if options.json:
        sys.stdout.write("[")
    for letter in letters:
        if shown == options.limit:
            break
        if options.json:
            sys.stdout.write((", " if shown else "") + json.dumps(_document(letter), ensure_ascii=False))
        else:
            user = _readable(letter.fields.get(b"user_id", b"?"))
            print(f"{letter.id:<18} {letter.pushed_at:%Y-%m-%d %H:%M:%S} {user:<12} {_why(letter)}")
        shown += 1
    if options.json:
        print("]")
    elif not shown:
        print("no dead turns")
    return 0


def run_show(options: argparse.Namespace, settings: Settings) -> int:
    letter = _find(_open(options, settings), options.id)
    if options.json:
        print(json.dumps(_document(letter), ensure_ascii=False))
        return 0
    print(
        f"dead turn {letter.id}, pushed {letter.pushed_at:%Y-%m-%d %H:%M:%S.%f%z} as entry {letter.entry_id}"
    )
    print(_why(letter))
    for name, value in letter.fields.items():
        print(f"  {_readable(name)}: {_readable(value)}")
    return 0


def run_retry(options: argparse.Namespace, settings: Settings) -> int:
    changes = dict(_change(text) for text in options.set)
    letters = _open(options, settings)
    pushed: list[dict[str, str]] = []
    kept: list[dict[str, str]] = []
    for letter in _letters(letters, options):
        try:
            fields = letter.mended(changes, frozenset(options.unset))
        except TurnInvalidError as error:
            kept.append({"id": letter.id, "field": error.field, "reason": error.reason})
            continue
        entry_id = letters.push_again(letter, fields)
        if entry_id is not None:
            pushed.append({"id": letter.id, "entry_id": entry_id})
    if options.json:
        print(json.dumps({"pushed": pushed, "kept": kept}, ensure_ascii=False))
    else:
        print(f"pushed {len(pushed)} turns again")
        for each in kept:
            print(
                f"{each['id']} stays: {each['field']}: {each['reason']} (mend it with --set or --unset)",
                file=sys.stderr,
            )
    return 1 if kept else 0


def run_drop(options: argparse.Namespace, settings: Settings) -> int:
    letters = _open(options, settings)
    dropped = [letter.id for letter in _letters(letters, options) if letters.drop(letter, options.because)]
    if options.json:
        print(json.dumps({"dropped": dropped}))
    else:
        print(f"dropped {len(dropped)} turns, because: {options.because}")
    return 0


def _letters(letters: DeadLetters, options: argparse.Namespace) -> Iterable[DeadLetter]:
    """What the command line chose; what dies again meanwhile is not among it."""
    if options.all and options.ids:
        raise ValueError("give either ids or --all, not both")
    if options.all:
        return list(letters)
    if not options.ids:
        raise ValueError("say which: ids as listed by `cardlog dead list`, or --all")
    return [_find(letters, letter_id) for letter_id in options.ids]


def _find(letters: DeadLetters, letter_id: str) -> DeadLetter:
    letter = letters.find(letter_id)
    if letter is None:
        raise ValueError(f"there is no dead turn {letter_id}; `cardlog dead list` says which there are")
    return letter


def _change(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r} has no value; write it as FIELD=VALUE")
    if name not in FIELDS:
        raise ValueError(
            f"--set {text!r}: {name!r} is not a field of a turn; allowed are {', '.join(FIELDS)}"
        )
    return name, value


def _why(letter: DeadLetter) -> str:
    return f"{letter.field}: {letter.reason}"


def _document(letter: DeadLetter) -> dict[str, Any]:
    return {
        "id": letter.id,
        "entry_id": letter.entry_id,
        "pushed_at": letter.pushed_at.isoformat(),
        "field": letter.field,
        "reason": letter.reason,
        "fields": {_readable(name): _value(value) for name, value in letter.fields.items()},
    }


def _value(value: bytes) -> str | dict[str, str]:
    """Text where it is text; other bytes in full all the same."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _readable(value: bytes) -> str:
    """For a terminal: no control character of a stranger's reaches it."""
    text = value.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
