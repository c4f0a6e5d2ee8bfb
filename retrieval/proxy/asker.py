"""Whose memory a request to the proxy is about, and the turns of that user."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from hashlib import sha256
from urllib.parse import unquote

from starlette.datastructures import Headers

from events.types.turn_contract import TurnInvalidError, text_of
from retrieval.hooks import turn_of
from retrieval.proxy.model_apis import Question

NAMED = "x-cardlog-"
"""How the headers begin that are for the proxy alone."""
_FIELDS = {
    "user": "user_id",
    "project": "project_id",
    "session": "session_id",
    "mode": "mode",
    "timezone": "timezone",
}


_NAMES = (*_FIELDS, "key")
HEADERS = {field: NAMED + name for name, field in _FIELDS.items()}
"""The header that gives each field of a request to the memory."""


class NotAskedError(ValueError):
    """A request goes without a memory. The message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose memory a request is about. ``fields`` are those that its questions and its turns share."""

    fields: tuple[tuple[str, str], ...]
    key: str = field(repr=False)

    def turn(self, role: str, words: str, question: Question) -> dict[str, str] | None:
        """Returns the turn of words that are said now, or None when the turn contract refuses them. The log says why.

        A request that an app repeats on one day gives the same turn, because its id is that of the place and the words.
        """
        now = datetime.now(UTC)
        named = "\0".join(
            (*map(str, self.fields), str(now.date()), str(question.place), question.words, role, words)
        )
        made = {
            "role": role,
            "said_at": now.isoformat(timespec="milliseconds"),
            "turn_id": f"proxy-{sha256(named.encode()).hexdigest()[:32]}",
        }
        return turn_of(words, dict(self.fields) | made, source="a request to the proxy")


def asker_of(headers: Headers, own_key: str | None) -> Asker:
    """Returns whom the headers name. ``own_key`` is for requests without a key; None when each must have one.

    A value is UTF-8, in which ``%`` begins an encoded byte. Raises :class:`NotAskedError`.
    """
    for header in headers:
        if header.startswith(NAMED) and header.removeprefix(NAMED) not in _NAMES:
            near = get_close_matches(header, [NAMED + name for name in _NAMES], 1)
            hint = (
                f"did you mean {near[0]}?"
                if near
                else f"there are {', '.join(NAMED + name for name in _NAMES)}"
            )
            raise NotAskedError(f"{header} is no header of the proxy; {hint}")
    named = {}
    for name, called in _FIELDS.items():
        raw = headers.get(NAMED + name, "").encode("latin-1")
        try:
            if value := text_of(called, unquote(raw.decode(), errors="strict")):
                named[called] = value
        except (TurnInvalidError, UnicodeError):
            raise NotAskedError(f"{NAMED}{name} is no text in UTF-8; encode it as in a URL") from None
    if "user_id" not in named:
        raise NotAskedError(f"the request names no user; send {NAMED}user")
    key = headers.get(f"{NAMED}key", own_key)
    if key is None:
        raise NotAskedError(f"the request has no API key of Cardlog; send {NAMED}key")
    return Asker(tuple(named.items()), key)
