"""The core document as it is read: now, then, its history and its queue."""
