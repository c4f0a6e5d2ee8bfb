"""The routes for operators: the status of the stages, and the audit log."""
