"""``cardlog settings``: what can be set."""

from __future__ import annotations

import sys

from deploy.options import Given
from events.platform.settings import Settings, listing


def list_settings(*, settings: Given[Settings]) -> int:
    """List every setting."""
    del settings  # asked for so that every variable is checked, and unknown ones are reported
    width = max(len(variable) for variable, _, _ in listing())
    for variable, default, meaning in listing():
        sys.stdout.write(
            f"{variable:<{width}}  {meaning}" + (f" (default: {default})" if default else "") + "\n"
        )
    return 0
