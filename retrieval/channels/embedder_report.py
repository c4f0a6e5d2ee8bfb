"""Tells which embedder made the live vectors, and which one the settings name."""

import psycopg

from events.platform.database import connect, statement
from events.platform.settings import Settings
from events.resources.status import EmbedderReport

_PACKAGE = "retrieval.channels"


def embedder_report(settings: Settings) -> EmbedderReport | None:
    """Returns the report of the embedder. None: the database does not tell."""
    try:
        with connect(settings.database_url, application="status") as connection:
            rows = connection.execute(statement(_PACKAGE, "spaces")).fetchall()
    except psycopg.errors.UndefinedTable:  # no worker folded anything yet
        rows = []
    except psycopg.Error:
        return None
    live = {slot: (name, fingerprint) for slot, name, fingerprint in rows}
    name, fingerprint = live.get("", (None, None))
    return EmbedderReport(model=name, fingerprint=fingerprint, wanted=settings.embed_model)
