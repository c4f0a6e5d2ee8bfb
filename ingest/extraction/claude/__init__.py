"""The extractor that asks a language model. Only :mod:`.messages_client` imports the SDK of Anthropic."""
