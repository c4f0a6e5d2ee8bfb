"""Reports the parts of a start: which one is on its way, and how long each took."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger(__name__)


@contextmanager
def part(name: str) -> Iterator[None]:
    """Logs that the part ``name`` starts, and after it how long it took. A part that fails logs no end."""
    logger.info("%s: starting …", name)
    began = time.monotonic()
    yield
    logger.info("%s: ready after %.1f s", name, time.monotonic() - began)
