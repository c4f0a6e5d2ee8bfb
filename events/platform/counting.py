"""Numbers of things in plain English: 1 turn, 2 turns."""


def counted(number: int, noun: str) -> str:
    """Returns the number with ``noun``, which takes an s unless the number is 1: ``2,000 events``."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"
