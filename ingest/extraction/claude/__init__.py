"""The extractor that asks a language model through the Messages API; the SDK is loaded with :mod:`.client` only."""
