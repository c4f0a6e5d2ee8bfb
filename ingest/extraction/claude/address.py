"""Where the model is asked."""

from __future__ import annotations

from urllib.parse import urlsplit

from events.platform.settings import Settings

OFFICIAL = "https://api.anthropic.com"


def address_of(settings: Settings) -> str:
    """The server's address, without what may be secret in a URL."""
    parts = urlsplit(settings.anthropic_base_url or OFFICIAL)
    host = parts.hostname or "?"
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "") + parts.path.rstrip("/")
