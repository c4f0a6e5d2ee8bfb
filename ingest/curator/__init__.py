"""The curator: reads one user's memory when the user is idle, and adds relations, threads and proposals to the log."""
