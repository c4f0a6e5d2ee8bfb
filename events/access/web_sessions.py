"""Sessions of a browser: a person signs in with an API key or a link, and from then on a cookie stands for the key.

A session is ``cls_<key id>_<expiry>_<mac>``. The MAC is computed with the secret of the database over the digest of
the key, so every process checks a session without a table. A session is worth no more than its key, and ends when the
key is revoked or expires. A browser never keeps the key itself.
"""

import hmac
import re
import secrets
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from events.access.keys import ApiKey
from events.platform.database import Connection, statement

COOKIE = "__Host-cardlog"
"""The name of the cookie. A browser takes it over TLS only, or from its own machine, and never for another host."""
LIFETIME = timedelta(hours=1)
"""A session ends so long after its last renewal."""
LINK_LIFETIME = timedelta(minutes=15)
_SESSION = re.compile(r"cls_([a-z2-7]{16})_([0-9]{1,12})_([0-9a-f]{64})")
_LINK = re.compile(r"cll_[A-Za-z0-9_-]{43}")
_PURPOSE = b"cardlog session\0"


def new_session(secret: bytes, key: ApiKey, now: datetime) -> str:
    """Returns a session of ``key``, which ends :data:`LIFETIME` after ``now``."""
    return _session(secret, key, int((now + LIFETIME).timestamp()))


def key_id_of_session(text: str, now: datetime) -> str | None:
    """Returns the id of the key of a session; None for a text of another form and for an expired session."""
    found = _SESSION.fullmatch(text)
    return found[1] if found and int(found[2]) > now.timestamp() else None


def is_session_of(secret: bytes, key: ApiKey, text: str) -> bool:
    """True when the session ``text`` was made for this key."""
    found = _SESSION.fullmatch(text)
    return found is not None and hmac.compare_digest(_session(secret, key, int(found[2])), text)


def new_link(connection: Connection, key_id: str) -> str:
    """Returns the code of a new link, which signs in once as the key within :data:`LINK_LIFETIME`.

    ``connection`` belongs to the owner of the tables.
    """
    code = f"cll_{secrets.token_urlsafe(32)}"
    values = {
        "digest": digest_of_link(code),
        "key_id": key_id,
        "expires_at": datetime.now(UTC) + LINK_LIFETIME,
    }
    connection.execute(statement("events.access", "add_link"), values)
    return code


def digest_of_link(text: str) -> bytes | None:
    """Returns the digest of the code of a link; None when the text has another form."""
    return sha256(text.encode()).digest() if _LINK.fullmatch(text) else None


def _session(secret: bytes, key: ApiKey, expires: int) -> str:
    signed = _PURPOSE + key.digest + f"{key.key_id} {expires}".encode()
    return f"cls_{key.key_id}_{expires}_{hmac.digest(secret, signed, sha256).hex()}"
