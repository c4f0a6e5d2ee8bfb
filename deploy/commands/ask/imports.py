"""``cardlog import``: takes what other programs export. Each message becomes a turn, pushed through the client."""

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any, cast
from zoneinfo import ZoneInfo

from cyclopts import App, Parameter

from cardlog_client import Client
from cardlog_client.errors import CardlogError
from deploy.options import Answer, File, Flat, Given, OfUser, OptionInvalidError
from deploy.progress import Progress
from deploy.security.private_files import reading
from events.platform.counting import counted
from events.types.turn_contract import TurnInvalidError, zone_hint
from ingest.migration import portable
from ingest.migration.chats import assistants, people
from ingest.migration.chats.message import ChatMessage, ChatTerms, DateOrder, LeftOut
from ingest.migration.chats.source import ExportUnreadableError

app = App(
    name="import",
    help="Import what other programs export: chats with an assistant, chats between people, and memories (PAM, OKF).",
)

_PAGE = 1_000
_PAGE_CHARACTERS = 1024 * 1024
_OPTIONS = {"user_id": "--user", "project_id": "--project", "timezone": "--timezone"}
Reader = Callable[[IO[bytes], LeftOut, Callable[[int], None]], Iterator[ChatMessage]]


@dataclass(frozen=True, kw_only=True)
class Options(OfUser):
    """The options of every import of chats."""

    user: Annotated[str, Parameter(help="whose memory the turns belong to")]
    project: Annotated[str, Parameter(help="the project that the turns belong to")] = "default"
    timezone: Annotated[str, Parameter(metavar="ZONE", help="the IANA name of the user's time zone")] = "UTC"


@app.default
def run_import(
    file: Annotated[
        File, Parameter(help="conversations.json of ChatGPT or Claude, or the zip; - for standard input")
    ],
    /,
    *,
    options: Flat[Options],
    client: Given[Client],
) -> Answer:
    """Take the conversations that ChatGPT or Claude exported.

    The file is read as a stream. A message counts once, so the same command again continues after an interruption and
    adds nothing when everything is there. Exit status 1: a part of the file was broken, and the rest was taken.
    """
    return _imported(client, options, file, assistants.read)


@app.command(name="chat")
def run_chat(
    file: Annotated[
        File,
        Parameter(
            help="_chat.txt of WhatsApp or its zip, result.json of Telegram, or a mailbox (mbox); - for standard input"
        ),
    ],
    /,
    *,
    me: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="NAME", help="what the chat calls the user: name, id or address; repeat it for several"
        ),
    ] = (),
    chat: Annotated[
        str | None, Parameter(metavar="NAME", help="the name of the chat; else what the file tells")
    ] = None,
    date_order: Annotated[
        DateOrder | None,
        Parameter(help="the order of the dates of WhatsApp; else what all of them together tell"),
    ] = None,
    options: Flat[Options],
    client: Given[Client],
) -> Answer:
    """Take a chat between people: WhatsApp, Telegram, or mail.

    A turn of another person is incoming: it states nothing of the user. Everything else is as with conversations.

    For example: cardlog import chat _chat.txt --me Ada --user ada --timezone Europe/Lisbon
    """
    try:
        zone = ZoneInfo(options.timezone)
    except (KeyError, ValueError, OSError):
        raise OptionInvalidError(
            f"--timezone is {options.timezone!r}; {zone_hint(options.timezone)}"
        ) from None
    terms = ChatTerms(me=me, chat=chat, zone=zone, date_order=date_order)
    return _imported(
        client,
        options,
        file,
        lambda opened, *seen: people.read(cast(io.BufferedReader, opened), terms, *seen),
    )


@app.command(name="pam")
def run_pam(
    file: Annotated[File, Parameter(help="a memory store of PAM 1.0; - for standard input")],
    /,
    *,
    options: Flat[Options],
    client: Given[Client],
) -> Answer:
    """Take a memory store of PAM 1.0 (Portable AI Memory).

    Each memory becomes a turn with the mark of its source, at the time from which it holds. Everything else is as with
    conversations.
    """
    return _imported(client, options, file, lambda opened, left_out, _: portable.read_pam(opened, left_out))


@app.command(name="okf")
def run_okf(
    folder: Annotated[Path, Parameter(help="a folder of Markdown files with front matter")],
    /,
    *,
    options: Flat[Options],
    client: Given[Client],
) -> Answer:
    """Take a folder of Markdown with front matter (Open Knowledge Format), a memory a file."""
    if not folder.is_dir():
        raise RuntimeError(f"{folder} is no folder; name the folder with the Markdown files")
    left_out = LeftOut()
    with Progress("turns") as progress:
        return _pushed(client, options, portable.read_okf(folder, left_out), left_out, progress)


def _imported(client: Client, options: Options, file: str, reader: Reader) -> Answer:
    """Pushes the messages that ``reader`` finds in ``file``. Raises RuntimeError when it cannot go on."""
    left_out = LeftOut()
    with reading(file) as opened, Progress("bytes") as progress:
        size = Path(file).stat().st_size if file != "-" else None
        read = 0

        def seen(count: int) -> None:
            nonlocal read
            read += count

        def shown(_taken: int) -> None:
            # The members of a zip are larger than the zip.
            progress(read, size if size is None or read <= size else None)

        try:
            return _pushed(client, options, reader(opened, left_out, seen), left_out, shown)
        except ExportUnreadableError as error:
            raise RuntimeError(f"{file}: {error}") from None


def _pushed(
    client: Client,
    options: Options,
    messages: Iterable[ChatMessage],
    left_out: LeftOut,
    shown: Callable[[int], None],
) -> Answer:
    """Pushes the messages and returns the report. ``shown`` is told the number of turns after every push."""
    taken = known = 0
    try:
        for page in _pages(_turns(messages, options, left_out)):
            answer = client.push(page)
            known += len(answer["duplicates"])
            taken += len(page) - len(answer["duplicates"])
            shown(taken + known)
    except CardlogError as error:
        raise RuntimeError(
            f"{counted(taken, 'turn')} were taken, and then the service refused: {error}; run the command again to "
            "continue"
        ) from None
    document = {
        "turns": taken,
        "known_before": known,
        "left_out": {name: asdict(reason) for name, reason in left_out.reasons.items()},
    }
    broken = any(reason.broken for reason in left_out.reasons.values())
    return Answer(document, list(_lines(taken, known, left_out)), status=1 if broken else 0)


def _turns(
    messages: Iterable[ChatMessage], options: Options, left_out: LeftOut
) -> Iterator[dict[str, object]]:
    now = datetime.now(UTC)
    for message in messages:
        try:
            yield message.turn(options.user, options.project, options.timezone, now)
        except TurnInvalidError as error:
            if error.field in _OPTIONS:
                raise OptionInvalidError(f"{_OPTIONS[error.field]} {error.reason}") from None
            left_out.refused(error, message.place)


def _pages(turns: Iterable[dict[str, object]]) -> Iterator[list[Any]]:
    """Yields the turns in lists that the service takes at once."""
    page: list[dict[str, object]] = []
    characters = 0
    for turn in turns:
        page.append(turn)
        characters += len(str(turn["text"]))
        if len(page) == _PAGE or characters >= _PAGE_CHARACTERS:
            yield page
            page, characters = [], 0
    if page:
        yield page


def _lines(taken: int, known: int, left_out: LeftOut) -> Iterator[str]:
    yield f"took {counted(taken, 'turn')}" + (f"; {known:,} were there before" if known else "")
    for name, reason in sorted(left_out.reasons.items(), key=lambda each: -each[1].count):
        places = ", ".join(reason.places) + (", …" if reason.count > len(reason.places) else "")
        yield f"left out: {reason.count:,} × {name}: {places}"
    if taken:
        print("cardlog wait waits until the turns are understood", file=sys.stderr)
