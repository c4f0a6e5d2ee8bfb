"""Scrubbing: the bytes of deleted rows leave the files of the servers."""
