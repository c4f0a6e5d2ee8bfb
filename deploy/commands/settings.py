"""``cardlog settings``: what can be set."""

from __future__ import annotations

import sys

from events.settings import listing


def list_settings() -> int:
    """List every setting."""
    width = max(len(variable) for variable, _, _ in listing())
    for variable, default, meaning in listing():
        sys.stdout.write(
            f"{variable:<{width}}  {meaning}" + (f" (default: {default})" if default else "") + "\n"
        )
    return 0
