"""Reading cards as such: slices along every axis, chains, histories, conflicts."""
