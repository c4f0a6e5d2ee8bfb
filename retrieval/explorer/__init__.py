"""The explorer: a web app by which people see and settle what is remembered.

The sources are in ``app/``, and the files that a browser loads in ``built/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

BUILT = "built"
MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}


@cache
def built() -> Mapping[str, bytes]:
    """Returns the content of each file that a browser may ask for, by its name."""
    found = files("retrieval.explorer").joinpath(BUILT).iterdir()
    return {each.name: each.read_bytes() for each in found if each.name.rpartition(".")[2] in MEDIA_TYPES}
