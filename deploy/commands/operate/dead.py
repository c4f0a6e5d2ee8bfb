"""``cardlog dead``: lists, retries and drops dead letters, the turns that broke the contract."""

import base64
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Annotated

from cyclopts import App, Parameter

from deploy.options import Answer, Count, Given, Json, OnlyTenant, OptionInvalidError
from deploy.security.audited import audited
from events.http.tokens import read_queue_key
from events.platform.counting import counted
from events.platform.settings import Settings
from events.platform.streams import connect_redis
from events.types.queue_entry import QueueKey
from events.types.tenancy import DEFAULT_TENANT, shown_user, storage_id
from events.types.turn_contract import FIELDS, TurnInvalidError
from ingest.recording.dead_letters import DeadLetter, DeadLetters

app = App(
    name="dead",
    help="A turn that breaks the contract becomes a dead letter, with field and reason, on the stream turns:dead. "
    "Correct it and push it again, or drop it.",
)


All = Annotated[bool, Parameter(name="--all", help="every dead letter")]
Ids = Annotated[str, Parameter(metavar="ID", help="as listed")]


@contextmanager
def _opened(settings: Settings, operation: str) -> Iterator[DeadLetters]:
    """Yields the dead letters, and records ``operation`` in the audit log."""
    client = connect_redis(settings.redis_url, socket_timeout=30, socket_connect_timeout=5)
    with audited(settings, operation):
        yield DeadLetters(client, settings.turns_stream)


@app.command(name="list", help="list every dead letter with field and reason, oldest first")
def run_list(
    *,
    limit: Annotated[Count, Parameter(help="the maximum number of letters to list")] = None,
    tenant: OnlyTenant = None,
    as_json: Json = False,
    cardlog: Given[Settings],
) -> Answer:
    with _opened(cardlog, "dead-list") as letters:
        found = list(islice((each for each in letters if tenant in (None, each.tenant)), limit))
    return Answer([_document(each) for each in found], map(_line, found) if found else ["no dead letters"])


@app.command(name="show", help="show one dead letter with every field as it was pushed")
def run_show(
    letter_id: Annotated[str, Parameter(metavar="ID", help="as listed, or the entry id of the pushed turn")],
    /,
    *,
    as_json: Json = False,
    cardlog: Given[Settings],
) -> Answer:
    with _opened(cardlog, "dead-show") as letters:
        letter = _find(letters, letter_id)
    head = f"dead letter {letter.id}, pushed {letter.pushed_at:%Y-%m-%d %H:%M:%S.%f%z} as entry {letter.entry_id}"
    fields = [f"  {_readable(name)}: {_readable(value)}" for name, value in letter.opened.items()]
    return Answer(_document(letter), [head, _why(letter), *fields])


@app.command(name="retry")
def run_retry(
    *ids: Ids,
    set_: Annotated[
        list[str] | None,
        Parameter(name="--set", metavar="FIELD=VALUE", help="set a field first; may be repeated"),
    ] = None,
    unset: Annotated[list[str] | None, Parameter(metavar="FIELD", help="remove a field first")] = None,
    all_: All = False,
    as_json: Json = False,
    cardlog: Given[Settings],
) -> Answer:
    """Push dead letters again, unchanged or corrected: cardlog dead retry --all --set timezone=UTC.

    A turn keeps the time of its first push, and counts once after any number of retries. A turn that still breaks the
    contract stays a dead letter, and the exit status is 1.
    """
    changes = dict(_change(text) for text in set_ or ())
    key: QueueKey | None = None
    with _opened(cardlog, "dead-retry") as letters:
        pushed: list[dict[str, str]] = []
        kept: list[dict[str, str]] = []
        for letter in _letters(letters, ids, everything=all_):
            if key is None and letter.tenant != DEFAULT_TENANT:
                key = read_queue_key(cardlog)
            try:
                fields = letter.fields_to_retry(changes, frozenset(unset or ()), key)
            except TurnInvalidError as error:
                kept.append({"id": letter.id, "field": error.field, "reason": error.reason})
                continue
            entry_id = letters.push_again(letter, fields)
            if entry_id is not None:
                pushed.append({"id": letter.id, "entry_id": entry_id})
    for each in () if as_json else kept:
        why = f"{each['field']}: {each['reason']} (correct it with --set or --unset)"
        print(f"{each['id']} stays: {why}", file=sys.stderr)
    line = f"pushed {counted(len(pushed), 'turn')} again"
    return Answer({"pushed": pushed, "kept": kept}, [line], 1 if kept else 0)


@app.command(name="drop")
def run_drop(
    *ids: Ids,
    because: Annotated[
        str, Parameter(metavar="WHY", help="the reason, which is recorded")
    ] = "dropped by hand",
    all_: All = False,
    yes: Annotated[bool, Parameter(help="with --all: drop; without it the command only counts")] = False,
    as_json: Json = False,
    cardlog: Given[Settings],
) -> Answer:
    """Drop dead letters.

    With --all and without --yes it only counts what would go. Dropped letters move with your reason to the stream
    turns:dropped, which keeps the latest 10,000. The count of dropped turns is kept permanently.
    """
    with _opened(cardlog, "dead-drop") as letters:
        chosen = _letters(letters, ids, everything=all_)
        if all_ and not yes:
            found = [letter.id for letter in chosen]
            line = f"{counted(len(found), 'dead letter')}; nothing was dropped: add --yes to drop this"
            return Answer({"dropped": [], "would_drop": found}, [line])
        dropped = [letter.id for letter in chosen if letters.drop(letter, because)]
    return Answer({"dropped": dropped}, [f"dropped {counted(len(dropped), 'turn')}, because: {because}"])


def _letters(letters: DeadLetters, ids: Sequence[str], *, everything: bool) -> Iterable[DeadLetter]:
    """Returns the dead letters that the command line chose. Later dead letters are not included."""
    if everything and ids:
        raise OptionInvalidError("give either ids or --all, not both")
    if everything:
        return list(letters)
    if not ids:
        raise OptionInvalidError("the ids are missing: give ids as listed by `cardlog dead list`, or --all")
    return [_find(letters, letter_id) for letter_id in ids]


def _find(letters: DeadLetters, letter_id: str) -> DeadLetter:
    letter = letters.find(letter_id)
    if letter is None:  # logs name a turn by the id of its push
        letter = next((each for each in letters if each.entry_id == letter_id), None)
    if letter is None:
        raise ValueError(f"there is no dead letter {letter_id}; `cardlog dead list` lists all of them")
    return letter


def _change(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise OptionInvalidError(f"--set {text!r} has no value; write it as FIELD=VALUE")
    if name not in FIELDS:
        raise ValueError(
            f"--set {text!r}: {name!r} is not a field of a turn; allowed are {', '.join(FIELDS)}"
        )
    return name, value


def _line(letter: DeadLetter) -> str:
    user = shown_user(storage_id(letter.tenant, _readable(letter.fields.get(b"user_id", b"?"))))
    return f"{letter.id:<18} {letter.pushed_at:%Y-%m-%d %H:%M:%S} {user:<12} {_why(letter)}"


def _why(letter: DeadLetter) -> str:
    return f"{letter.field}: {letter.reason}"


def _document(letter: DeadLetter) -> dict[str, object]:
    return {
        "id": letter.id,
        "entry_id": letter.entry_id,
        "tenant": letter.tenant,
        "pushed_at": letter.pushed_at.isoformat(),
        "field": letter.field,
        "reason": letter.reason,
        "fields": {_readable(name): _value(value) for name, value in letter.opened.items()},
    }


def _value(value: bytes) -> str | dict[str, str]:
    """Returns the value as text, or in base64 when it is not UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _readable(value: bytes) -> str:
    """Returns text that is safe for a terminal. Control characters are escaped."""
    text = value.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
