"""Claims: what one sentence says of one topic, so that two sentences can be compared."""
