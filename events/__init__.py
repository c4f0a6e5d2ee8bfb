"""The ground floor: event types, the log, time expressions, concepts, settings and the turn contract."""
