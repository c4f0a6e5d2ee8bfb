"""Events in, tables out: pure folds, the runner that makes them exactly-once, and text analysis."""
