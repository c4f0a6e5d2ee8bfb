"""Who owns a reference: a user, a team or, for declared kinds, a tenant. Streams and keys of references."""

from events.references.kinds.kind import ReferenceInvalidError
from events.types.references import ReferenceName
from events.types.tenancy import SEPARATOR
from events.types.turn_contract import part_of_key, text_of

MAX_KEY_BYTES = 200
MAX_NAME_BYTES = 512
KINDS_STREAM = "reference-kinds"
MEMBERS_STREAM = "team-members"


def team_owner(tenant: str, team_id: str) -> str:
    """Returns the storage id that owns the references of a team. No user of the tenant has this storage id."""
    return f"{tenant}{SEPARATOR}{SEPARATOR}{team_id}"


def tenant_owner(tenant: str) -> str:
    """Returns the storage id that owns the property of a whole tenant, such as declared kinds."""
    return team_owner(tenant, "")


def is_team(storage_id: str) -> bool:
    """True for the storage id of a team or of a whole tenant."""
    return SEPARATOR * 2 in storage_id


def checked_name(name: ReferenceName) -> ReferenceName:
    """Returns ``name``. Raises :class:`ReferenceInvalidError` for a part that cannot name anything."""
    for field, text, most in (
        ("key", name.key, MAX_KEY_BYTES),
        ("project_id", name.project_id, MAX_NAME_BYTES),
        ("team_id", name.team_id, MAX_NAME_BYTES),
    ):
        if text is None:
            continue
        text_of(field, text, ReferenceInvalidError)
        if not text.strip():
            raise ReferenceInvalidError(field, "must not be empty")
        if len(text.encode()) > most:
            raise ReferenceInvalidError(field, f"is longer than {most} bytes; use a shorter one")
        if SEPARATOR in text:
            raise ReferenceInvalidError(field, "holds the control character U+001F; leave it out")
    if "/" in name.key or name.key in (".", ".."):
        raise ReferenceInvalidError("key", "must not hold a / or be dots alone, because it is part of a path")
    if name.project_id is not None and name.team_id is not None:
        raise ReferenceInvalidError("team_id", "and project_id exclude each other; a reference has one scope")
    return name


def stream_of(name: ReferenceName) -> str:
    """Returns the log stream of a reference, within its owner."""
    if name.team_id is not None:
        scope = "team"
    elif name.project_id is not None:
        scope = f"project/{part_of_key(name.project_id)}"
    else:
        scope = "user"
    return f"reference/{scope}/{name.kind}/{part_of_key(name.key)}"
