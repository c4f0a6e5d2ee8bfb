"""Embedders and passages, shared by the projectors and by recall, so that both sides embed the same way."""
