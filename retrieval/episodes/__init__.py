"""Episodes by topic, by place in the core document and by importance, each score with its explanation."""
