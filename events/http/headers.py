"""The headers that every answer of a service has."""

_PAGES = ("/docs",)
"""Pages that set a content security policy of their own."""
_EXPLORER = "/explorer/"
_EXPLORER_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    b"require-trusted-types-for 'script'; trusted-types 'none'"
)
"""The explorer loads its own files and asks its own origin, and nothing else. No text of a card becomes a script."""


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
    if path.startswith(_EXPLORER):
        found.append((b"content-security-policy", _EXPLORER_POLICY))
    elif path not in _PAGES:
        found.append((b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"))
    if secure:
        found.append((b"strict-transport-security", b"max-age=31536000"))
    return found
