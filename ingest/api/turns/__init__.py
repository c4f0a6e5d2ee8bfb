"""Turns over HTTP: their form, their fields, and the way onto the queue."""
