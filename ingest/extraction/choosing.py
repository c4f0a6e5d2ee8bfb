"""Chooses the extractor and its worker from the settings: a model when one is configured, rules otherwise."""

from collections.abc import Callable

from events.health.log_worker import Worker
from events.platform.settings import Settings
from events.store.feed import Feed
from ingest.extraction.extractor_port import Extractor


def uses_model(settings: Settings) -> bool:
    """True when the settings name a server or hold the key of Anthropic."""
    return bool(settings.anthropic_api_key or settings.anthropic_base_url or settings.openai_base_url)


def create_extractor(settings: Settings) -> Extractor:
    """Returns the chosen extractor, for a caller that waits for its answer."""
    # The SDK takes a second to load, and the rules do not need it.
    if uses_model(settings):
        from ingest.extraction.claude.extractor import ClaudeExtractor  # noqa: PLC0415

        return ClaudeExtractor(settings)
    from ingest.extraction.rules.extractor import RulesExtractor  # noqa: PLC0415

    return RulesExtractor()


def create_extractor_worker(
    settings: Settings, stopping: Callable[[], bool], name: str, feed: Feed | None = None
) -> Worker:
    """Returns the worker of the chosen extractor. Rules run inside a transaction, calls of a model outside."""
    from ingest.extraction.rules.extractor import RulesExtractor  # noqa: PLC0415 - as above

    if uses_model(settings):
        from ingest.extraction.claude.extractor import ClaudeExtractor  # noqa: PLC0415
        from ingest.extraction.workers.model_worker import ModelWorker  # noqa: PLC0415

        return ModelWorker(settings, ClaudeExtractor(settings), RulesExtractor(), stopping, name, feed)
    from ingest.extraction.workers.rules_worker import ExtractorWorker  # noqa: PLC0415

    return ExtractorWorker(settings, RulesExtractor(), stopping, name, feed)


def describe(settings: Settings) -> str:
    """Returns a description of the extractor for people. It holds no secret."""
    if not uses_model(settings):
        return "rules (no language model is used; with ANTHROPIC_API_KEY or CARDLOG_OPENAI_BASE_URL set, one does)"
    from ingest.extraction.claude import prompt  # noqa: PLC0415
    from ingest.extraction.claude.model_server import server_of  # noqa: PLC0415

    return f"{settings.model} at {server_of(settings).address} (prompt {prompt.version()})"
