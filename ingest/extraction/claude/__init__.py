"""The extractor that asks a language model through the Messages API. Only :mod:`.client` imports the SDK."""
