"""The formats of the fields of a turn. The stream and HTTP use the same checks."""
