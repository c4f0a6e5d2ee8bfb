"""The runs of the curator, as the log has them."""
