"""The verbs about sealed payloads: their key-encryption key, and a sealed copy of a log."""
