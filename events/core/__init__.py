"""The core document: one JSON document of durable facts for each user, as a pure fold of events."""
