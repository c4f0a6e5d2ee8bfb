"""The API key that ``cardlog up`` makes at its first start and keeps in its data folder."""

import logging
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from deploy.instance import Instance
from deploy.security.private_files import key_in, written_privately
from events.access import keys, web_sessions
from events.platform.database import Connection, connect
from events.platform.settings import Settings

logger = logging.getLogger(__name__)

FILE = "api.key"


def ensured(connection: Connection, path: Path) -> None:
    """Makes sure that the file holds a key, and that the database knows it.

    The file is written first, so a start that was interrupted between the two is completed by the next one. The line in
    the file is an HTTP header: ``curl -H @api.key`` sends it. An expired or revoked key stays so, and the log says it.
    """
    if not path.exists():
        with written_privately(path) as file:
            file.write(f"Authorization: Bearer {keys.new_text()}\n".encode())
    text = key_in(path)
    try:
        made, _ = keys.create(connection, name="first key", scopes=keys.FIRST_SCOPES, text=text)
    except psycopg.errors.InsufficientPrivilege:
        logger.warning(
            "this role may not make API keys: set CARDLOG_ADMIN_DATABASE_URL to the URL of the role that owns the "
            "database, or give apps keys of `cardlog keys create`"
        )
        return
    if (status := made.status(datetime.now(UTC))) != "valid":
        logger.warning(
            "the key in %s is %s: remove the file and start again to get another one", path, status
        )


def sign_in_url(settings: Settings, instance: Instance) -> str:
    """Returns the address of the explorer with the code of a link that signs in once as the first key.

    The code stands behind the #, so no browser sends it to a server and no server logs it. Without authentication, and
    without the owner of the tables or a valid first key, it returns the address alone.
    """
    key_id = keys.key_id_of(key_in(Path(instance.key_file))) if settings.auth == "on" else None
    if key_id is None or not instance.admin_database_url:
        return instance.explorer_url
    with connect(instance.admin_database_url, application="up") as connection:
        return f"{instance.explorer_url}#/sign-in?code={web_sessions.new_link(connection, key_id)}"
