"""``cardlog dead``: turns that broke the contract, and what becomes of them."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from deploy.instance import find
from deploy.options import Count, Flat, Given, Json
from events.platform.settings import Settings
from events.platform.streams import connect_redis
from events.types.turn_contract import FIELDS, TurnInvalidError
from ingest.recording.dead_letters import DeadLetter, DeadLetters

app = App(
    name="dead",
    help="A turn that breaks the contract is kept on the stream turns:dead with field and reason. Look at "
    "it, mend it and push it again, or decide to drop it.",
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every verb about dead turns is told."""

    json: Json = False


DEFAULTS = Options()


@dataclass(frozen=True, kw_only=True)
class Chosen(Options):
    """Which dead turns are meant, beside the ids."""

    all: Annotated[bool, Parameter(help="every dead turn there is")] = False


NOT_CHOSEN = Chosen()


Ids = Annotated[str, Parameter(metavar="ID", help="as listed")]


def _open(settings: Settings, data: Path | None) -> DeadLetters:
    settings, _ = find(settings, data)
    client = connect_redis(settings.redis_url, socket_timeout=30, socket_connect_timeout=5)
    return DeadLetters(client, settings.turns_stream)


@app.command(name="list", help="every dead turn with field and reason, oldest first")
def run_list(
    *,
    limit: Annotated[Count, Parameter(help="at most so many")] = None,
    options: Flat[Options] = DEFAULTS,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    letters = _open(settings, data)
    shown = 0
    if options.json:
        sys.stdout.write("[")
    for letter in letters:
        if shown == limit:
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


@app.command(name="show", help="one dead turn in full, every field as it was pushed")
def run_show(
    letter_id: Annotated[str, Parameter(metavar="ID", help="as listed, or the id the turn was pushed under")],
    /,
    *,
    options: Flat[Options] = DEFAULTS,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    letter = _find(_open(settings, data), letter_id)
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


@app.command(name="retry")
def run_retry(
    *ids: Ids,
    set_: Annotated[
        list[str] | None,
        Parameter(name="--set", metavar="FIELD=VALUE", help="set a field first; may be repeated"),
    ] = None,
    unset: Annotated[list[str] | None, Parameter(metavar="FIELD", help="leave a field out")] = None,
    options: Flat[Chosen] = NOT_CHOSEN,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Push dead turns again, as they were or mended: cardlog dead retry --all --set timezone=UTC.

    A turn keeps the time it was first pushed at, and counts once however often it is retried. One that would
    still break the contract stays where it is, and the exit status is 1.
    """
    changes = dict(_change(text) for text in set_ or ())
    letters = _open(settings, data)
    pushed: list[dict[str, str]] = []
    kept: list[dict[str, str]] = []
    for letter in _letters(letters, ids, everything=options.all):
        try:
            fields = letter.fields_to_retry(changes, frozenset(unset or ()))
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


@app.command(name="drop")
def run_drop(
    *ids: Ids,
    because: Annotated[str, Parameter(metavar="WHY", help="kept on record")] = "dropped by hand",
    options: Flat[Chosen] = NOT_CHOSEN,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Give dead turns up.

    They move to the stream turns:dropped with your reason (it keeps the latest 10,000), and how many were
    dropped is counted for ever.
    """
    letters = _open(settings, data)
    dropped = [
        letter.id
        for letter in _letters(letters, ids, everything=options.all)
        if letters.drop(letter, because)
    ]
    if options.json:
        print(json.dumps({"dropped": dropped}))
    else:
        print(f"dropped {len(dropped)} turns, because: {because}")
    return 0


def _letters(letters: DeadLetters, ids: Sequence[str], *, everything: bool) -> Iterable[DeadLetter]:
    """What the command line chose; what dies again meanwhile is not among it."""
    if everything and ids:
        raise ValueError("give either ids or --all, not both")
    if everything:
        return list(letters)
    if not ids:
        raise ValueError("say which: ids as listed by `cardlog dead list`, or --all")
    return [_find(letters, letter_id) for letter_id in ids]


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
