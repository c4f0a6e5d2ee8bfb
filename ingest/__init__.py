"""Takes turns in and appends events: the recorder, the extractors and the write API."""
