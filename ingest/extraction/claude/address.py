"""The address of the model's server."""

from __future__ import annotations

from urllib.parse import urlsplit

from events.platform.settings import Settings

OFFICIAL = "https://api.anthropic.com"


def address_of(settings: Settings) -> str:
    """Returns the server's address without user, password and query, which may be secret."""
    parts = urlsplit(settings.anthropic_base_url or OFFICIAL)
    host = parts.hostname or "?"
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "") + parts.path.rstrip("/")
