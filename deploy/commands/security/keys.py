"""``cardlog keys``: makes, lists, rotates and revokes API keys."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from cyclopts import App, Parameter

from deploy.options import Answer, Flat, Given, Json, at_least
from events.access import keys
from events.access.keys import ApiKey
from events.platform.database import Connection, connect_owner, migrate
from events.platform.settings import Settings
from events.types.tenancy import DEFAULT_TENANT

app = App(
    name="keys",
    help="An API key opens the services: Authorization: Bearer KEY. The scope push lets it push turns, read lets it "
    "ask and read cards, write lets it settle conflicts, relate and verify cards, admin lets it manage users. No scope "
    "includes another. --acts-as user lets it write as the user. A key belongs to one tenant and can be limited to "
    "users, projects and modes.",
)

Id = Annotated[str, Parameter(help="the key's id, as listed: the part between the underscores of the key")]
_Granted = Literal["push", "read", "write", "admin"]
_Names = Annotated[tuple[str, ...], Parameter(metavar="NAME")]


@dataclass(frozen=True, kw_only=True)
class NewKey:
    """The rights of a new key."""

    name: Annotated[str, Parameter(help="what the key is for, such as the app's name")]
    scope: tuple[_Granted, ...] = ("push", "read", "write")
    """repeat it for several scopes (default: push, read and write)"""
    acts_as: Literal["user"] | None = None
    """user: what the key writes is the user's own word, as in an app where users edit it"""
    tenant: Annotated[str, Parameter(help="tenant of the key (default: default)")] = DEFAULT_TENANT
    user: Annotated[_Names, Parameter(help="only this user; repeat it for several")] = ()
    project: Annotated[_Names, Parameter(help="only this project; repeat it for several")] = ()
    mode: Annotated[_Names, Parameter(help="only this mode; repeat it for several")] = ()
    expires_days: Annotated[float | None, Parameter(metavar="DAYS", validator=at_least(1))] = None
    """days until the key expires (default: never)"""
    json: Json = False


@app.command(name="create")
def run_create(*, options: Flat[NewKey], cardlog: Given[Settings]) -> Answer:
    """Make a key and print it. It is printed once, and only a digest of it is kept."""
    expires = options.expires_days
    with _opened(cardlog) as connection:
        made, text = keys.create(
            connection,
            name=options.name,
            scopes=(*options.scope, *filter(None, [options.acts_as])),
            tenant=options.tenant,
            users=options.user,
            projects=options.project,
            modes=options.mode,
            expires_at=None if expires is None else datetime.now(UTC) + _until(timedelta(days=expires)),
        )
    return _made(made, text, as_json=options.json)


@app.command(name="list")
def run_list(
    *,
    tenant: Annotated[str | None, Parameter(help="only keys of this tenant")] = None,
    as_json: Annotated[bool, Parameter(name="--json", help="print one JSON object a line")] = False,
    cardlog: Given[Settings],
) -> Answer:
    """List the keys with their rights, the oldest first. The keys themselves cannot be shown."""
    with _opened(cardlog) as connection:
        found = keys.listed(connection, tenant)
    none = "there are no API keys; make one with: cardlog keys create --name NAME"
    return Answer(map(_document, found), map(_line, found) if found else [none], by_line=True)


@app.command(name="rotate")
def run_rotate(
    key: Id,
    /,
    *,
    overlap_hours: Annotated[
        float,
        Parameter(
            metavar="HOURS", validator=at_least(0), help="the old key still counts for so long (default: 24)"
        ),
    ] = 24.0,
    as_json: Json = False,
    cardlog: Given[Settings],
) -> Answer:
    """Make a new key with the same rights and print it. The old key expires after --overlap-hours."""
    with _opened(cardlog) as connection:
        made, text = keys.rotate(connection, key, overlap=_until(timedelta(hours=overlap_hours)))
    return _made(made, text, as_json=as_json)


@app.command(name="revoke")
def run_revoke(key: Id, /, *, as_json: Json = False, cardlog: Given[Settings]) -> Answer:
    """End a key for good, at once and in every process."""
    with _opened(cardlog) as connection:
        ended = keys.revoke(connection, key)
    return Answer(_document(ended), [f"revoked {ended.key_id}"])


@contextmanager
def _opened(settings: Settings) -> Iterator[Connection]:
    """Yields a connection of the role that may change keys."""
    with connect_owner(settings, application="keys") as connection:
        migrate(connection)
        yield connection


def _made(key: ApiKey, text: str, *, as_json: bool) -> Answer:
    if not as_json:
        print(f"{_line(key)}\nkeep the key now: it is not shown again", file=sys.stderr)
    return Answer({"key": text, **_document(key)}, [text])


def _document(key: ApiKey) -> dict[str, object]:
    same = ("key_id", "name", "tenant", "scopes", "users", "projects", "modes", "replaces")
    instants = {name: _instant(getattr(key, name)) for name in ("created_at", "expires_at", "revoked_at")}
    return {name: getattr(key, name) for name in same} | {"status": key.status(datetime.now(UTC)), **instants}


def _line(key: ApiKey) -> str:
    limits = [
        f"{field}={','.join(names)}"
        for field, names in (("users", key.users), ("projects", key.projects), ("modes", key.modes))
        if names is not None
    ]
    until = f"until {key.expires_at:%Y-%m-%d %H:%M}" if key.expires_at is not None else ""
    words = (
        key.key_id,
        key.status(datetime.now(UTC)),
        key.tenant,
        ",".join(key.scopes),
        *limits,
        until,
        key.name,
    )
    return "  ".join(word for word in words if word)


def _until(span: timedelta) -> timedelta:
    """Returns ``span``, and at most a hundred years, so that the instant stays within the calendar."""
    return min(span, timedelta(days=36_500))


def _instant(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()
