"""The migration of another memory: its text becomes turns, and a report tells what they made."""
