"""The headers that every answer of a service has."""

from __future__ import annotations

_PAGES = ("/docs",)
"""Pages that set a content security policy of their own."""


def security_headers(path: str, *, secure: bool = False) -> list[tuple[bytes, bytes]]:
    """Returns the headers that every answer has. ``secure``: the request came over TLS.

    Answers hold a memory, so no cache keeps them, and no page shows them in a frame. The pages of the documentation
    load scripts, so they have no content policy.
    """
    found = [
        (b"cache-control", b"no-store"),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
    ]
    if path not in _PAGES:
        found.append((b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"))
    if secure:
        found.append((b"strict-transport-security", b"max-age=31536000"))
    return found
