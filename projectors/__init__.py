"""Folds events into tables: pure folds, the runner that applies each event exactly once, rebuilds and embedders."""
