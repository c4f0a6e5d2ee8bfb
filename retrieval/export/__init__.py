"""Everything that is known of one user, as JSON lines, and the users of a tenant."""
