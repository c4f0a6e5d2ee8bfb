"""``cardlog settings``: lists every setting."""

import sys

from deploy.options import Given
from events.platform.settings import Settings, listing


def list_settings(*, settings: Given[Settings]) -> int:
    """List every setting."""
    del settings  # the parameter makes the command check every variable and report unknown ones
    width = max(len(variable) for variable, _, _ in listing())
    for variable, default, meaning in listing():
        sys.stdout.write(
            f"{variable:<{width}}  {meaning}" + (f" (default: {default})" if default else "") + "\n"
        )
    return 0
