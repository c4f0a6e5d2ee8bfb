"""The rules extractor: cards from English and Chinese turns without a model."""
