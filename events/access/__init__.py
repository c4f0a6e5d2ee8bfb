"""Who may do what: principals, API keys, limits and the audit log."""
