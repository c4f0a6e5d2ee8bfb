"""Values of the document that wait for a person."""
