"""Keys of answers: what a person wrote down that an answer must hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.answers.shown_cards import terms_of
from evaluation.answers.told_times import told_times
from events.language.chinese_script import has_cjk

_FIELDS = frozenset(("about", "says", "when", "outdated"))


class KeyInvalidError(ValueError):
    """A key has a field that no key has, a text that can never be found, or no answer."""


@dataclass(frozen=True, slots=True)
class Key:
    """What must be found for a question. Every text is a choice: alternatives with ``|`` between them.

    ``says``: each text stands in one of the cards. The words of an alternative stand in the same card.
    ``when``: one card tells one of these times at its grain: ``2026-05-03``, ``2026-05``, ``2026`` or
    ``2026-05-04/2026-05-10`` (inclusive). With ``when``, one of ``says`` in that card instead of the time counts too.
    ``about``: the card that gives the answer also holds each of these texts.
    ``outdated``: no card with such a text and without the answer stands before the card that gives the answer.
    """

    about: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    outdated: tuple[str, ...] = ()


def key_of(row: Mapping[str, Any]) -> Key:
    """Returns the key of a JSON object. Raises :class:`KeyInvalidError`."""
    if unknown := row.keys() - _FIELDS:
        raise KeyInvalidError(f"a key has no field {', '.join(sorted(unknown))}")
    for name, texts in row.items():
        if not isinstance(texts, Sequence) or isinstance(texts, str) or not all(map(_is_text, texts)):
            raise KeyInvalidError(f"{name} is not a list of texts: {texts!r}")
    if not row.get("says") and not row.get("when"):
        raise KeyInvalidError("a key needs says or when")
    for text in (text for name in ("about", "says", "outdated") for text in row.get(name, ())):
        for alternative in text.split("|"):
            if not has_cjk(alternative) and not terms_of(alternative):
                raise KeyInvalidError(f"{alternative!r} has no word that can be found")
    for text in row.get("when", ()):
        if len(told_times(text)) != 1:
            raise KeyInvalidError(f"{text!r} is no day, month, year or stretch of days")
    return Key(**{name: tuple(texts) for name, texts in row.items()})


def _is_text(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip())
