"""Decides if a turn continues the turns before it. Only then do their words help to find the turn.

"Two kittens!" is found by the question that it answers. A note, a line of a report or a turn after a long answer of an
assistant stands by itself: the words before it would lift the wrong turn (docs/benchmarks.md).
"""

from collections.abc import Sequence

from events.types.cards import Utterance

_MOST = 2  # a third turn before adds nothing (projectors/embedding/passages.py)
_SHORT_REPLY = 60  # characters; a Chinese character counts as three
_ASKS = ("?", "？")


def continued(said: Utterance, before: Sequence[Utterance]) -> tuple[Utterance, ...]:
    """Returns the utterances of ``before`` that ``said`` continues, the nearest first: two, one, or none.

    ``before`` holds the utterances before ``said``, the nearest first. A turn continues what another named speaker said
    just before. Without two names, only a short turn after a question continues that question.
    """
    if not before:
        return ()
    last = before[0]
    if said.speaker and last.speaker:
        return tuple(before[:_MOST]) if said.speaker != last.speaker else ()
    if _width(said.text) <= _SHORT_REPLY and last.text.rstrip().endswith(_ASKS):
        return (last,)
    return ()


def _width(text: str) -> int:
    """The length of a text as if a Chinese character were three letters. It counts no further than it must."""
    head = text[: _SHORT_REPLY + 1]
    return len(head) if head.isascii() else sum(1 if character.isascii() else 3 for character in head)
