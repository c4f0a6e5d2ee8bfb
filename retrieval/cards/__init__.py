"""Reading cards without a question: slices, chains, histories and conflicts."""
