"""The question and its scope, understood once for every channel."""
