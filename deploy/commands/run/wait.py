"""``cardlog wait``: waits until everything pushed so far is projected."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deploy.instance import find
from deploy.monitoring.catch_up import CatchingUp, StillBehindError
from deploy.options import Given, Seconds
from events.platform.settings import Settings


def wait(
    *,
    timeout: Annotated[Seconds, Parameter(help="seconds before giving up (default: 600)")] = 600.0,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Wait until everything pushed so far is projected."""
    settings, _ = find(settings, data)
    try:
        CatchingUp(settings, timeout).run(_note)
    except StillBehindError as error:
        print(f"cardlog wait: {error}", file=sys.stderr)
        return 1
    return 0


def _note(text: str) -> None:
    print(text, file=sys.stderr)
