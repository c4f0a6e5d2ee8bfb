"""The rules extractor: cards from English and Chinese turns without a model."""

from __future__ import annotations

from ingest.extraction.rules.extractor import RulesExtractor

__all__ = ["RulesExtractor"]
