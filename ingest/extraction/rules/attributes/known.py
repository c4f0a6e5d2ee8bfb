"""Finds the attribute of the conversation that a pronoun or a clause without a subject means."""

from __future__ import annotations

from ingest.extraction.rules.attributes.nouns import Aspect
from ingest.extraction.rules.drafts import KnownState
from ingest.extraction.rules.scene import Scene

_REACH = 4


def last_known(scene: Scene, aspect: Aspect, value: str) -> KnownState | None:
    """Returns the last attribute of the conversation that such a value can replace, or None.

    A place replaces a place and a time a time. A number replaces a number. A word replaces a word.
    """
    for known in reversed(scene.earlier()[-_REACH:]):
        if (
            known.event.cardinality != "single_value"
            or known.event.statement == "ended"
            or _TAG not in known.event.tags
        ):
            continue
        if _aspect_of(known) != aspect or known.value == value:
            continue
        if aspect == "value" and value[:1].isdigit() != known.value[:1].isdigit():
            continue
        return known
    return None


_TAG = "attribute"


def _aspect_of(known: KnownState) -> Aspect:
    if known.event.value_hint is not None or known.key.endswith("_time"):
        return "time"
    return "place" if known.key.endswith("_place") else "value"
