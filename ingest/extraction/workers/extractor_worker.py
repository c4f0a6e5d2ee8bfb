"""Makes the worker of the extractor that the settings choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from events.platform.settings import Settings
from events.store.feed import Feed
from ingest.extraction.choosing import uses_model


class Worker(Protocol):
    """A worker that runs until it is told to stop."""

    def run(self) -> None: ...


def create_extractor_worker(
    settings: Settings, stopping: Callable[[], bool], name: str, feed: Feed | None = None
) -> Worker:
    """Returns the worker of the chosen extractor. Rules run inside a transaction, calls of a model outside."""
    # The SDK takes a second to load, and the rules do not need it.
    from ingest.extraction.rules import RulesExtractor  # noqa: PLC0415

    if uses_model(settings):
        from ingest.extraction.claude.extractor import ClaudeExtractor  # noqa: PLC0415
        from ingest.extraction.workers.model_worker import ModelWorker  # noqa: PLC0415

        return ModelWorker(settings, ClaudeExtractor(settings), RulesExtractor(), stopping, name, feed)
    from ingest.extraction.workers.rules_worker import ExtractorWorker  # noqa: PLC0415

    return ExtractorWorker(settings, RulesExtractor(), stopping, name, feed)
