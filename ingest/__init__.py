"""Turns in, events out: the recorder, the extractor and the write API."""
