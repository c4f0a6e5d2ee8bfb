"""Chooses the extractor from the settings: a model when one is configured, rules otherwise."""

from __future__ import annotations

from events.platform.settings import Settings
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
    from ingest.extraction.rules import RulesExtractor  # noqa: PLC0415

    return RulesExtractor()


def describe(settings: Settings) -> str:
    """Returns a description of the extractor for people. It holds no secret."""
    if not uses_model(settings):
        return "rules (no language model is used; with ANTHROPIC_API_KEY or CARDLOG_OPENAI_BASE_URL set, one does)"
    from ingest.extraction.claude import prompt  # noqa: PLC0415
    from ingest.extraction.claude.model_server import server_of  # noqa: PLC0415

    return f"{settings.model} at {server_of(settings).address} (prompt {prompt.version()})"
