"""Poison made by hypothesis, the same in every run: turns and events that no honest sender makes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from random import Random
from string import ascii_letters
from typing import Any, TypeVar
from uuid import UUID

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, SourceSpan, StateAsserted, Utterance
from events.types.insights import InsightDerived, InsightRetracted
from events.types.naming import ConceptPinned, KnowledgeMerged, TagAliased
from events.types.people import PersonAliased, PersonMergeProposed, PersonNoted, PersonsMerged
from events.types.relations import CardsConnected
from events.types.threads import CardsThreaded, ThreadOpened
from events.types.turns import TurnRecorded
from events.types.verdicts import CardVerified, ConflictRuled
from events.types.webhooks import WebhookAdded, WebhookRemoved

T = TypeVar("T")
NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


def collected(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """``count`` examples of ``strategy``, or as many as differ."""
    found: list[T] = []

    @settings(
        max_examples=count, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy)
    def collect(example: T) -> None:
        found.append(example)

    collect()
    return found


def _long(most: int) -> st.SearchStrategy[str]:
    # The letters are random, because repeated text is compressed and then fits where it should not.
    return st.builds(
        lambda seed, size: "".join(Random(seed).choices(ascii_letters, k=size)),
        st.integers(1, 10_000),
        st.sampled_from((513, 2_700, 9_000, most)),
    )


ODD_TEXT = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ("", " ", "\x1f", "\x10u", "a/b", "%2F", "\t\n\r\\", "\\N", "\\.", "{}", '"', "NULL", "\u202e", "\ufeff",
         "0" * 400,
         "\U0010ffff", "’", "ß" * 600, "a\u0301" * 300, "-infinity", "\x7f", "1e308", "user", "__proto__",
         "'; DROP TABLE x")
    ),
    _long(20_000),
)  # fmt: skip

OFFSETS = (
    "+16:00", "-16:00", "+15:59:59", "+14:01", "-14:01", "+23:59", "+08:00:30", "-00:00:01", "+00:00:00.5", "+24:00",
    "Z", "+08:00", "", " 08:00",
)  # fmt: skip
ODD_SAID_AT = st.builds(
    lambda year, month, time, offset: f"{year}-{month}T{time}{offset}",
    st.sampled_from(
        ("0000", "0001", "1899", "1900", "2026", "2200", "2201", "9999", "10000", "-026", "20 6")
    ),
    st.sampled_from(("01-01", "12-31", "02-30", "13-01", "05-08")),
    st.sampled_from(("00:00:00", "23:59:59.999999", "24:00:00", "10:00", "10:00:60", "99:99")),
    st.sampled_from(OFFSETS),
)
ZONES = (
    "Nowhere",
    "../../etc/passwd",
    "localtime",
    "Asia",
    "UTC+8",
    "a" * 300,
    "/" * 5000,
    "Asia/Taipei\n",
    "zone.tab",
)


def _entry(given_fields: dict[str, str], raw: dict[bytes, bytes]) -> dict[bytes, bytes]:
    fields = {
        name.encode(): value.encode("utf-8", "surrogatepass")[:200_000]
        for name, value in {"user_id": "poison", "text": "poison", **given_fields}.items()
    }
    return fields | raw


ENTRIES = st.builds(
    _entry,
    st.fixed_dictionaries(
        {},
        optional={
            **dict.fromkeys(
                ("user_id", "text", "role", "speaker", "session_id", "project_id", "agent_id", "mode", "turn_id"),
                ODD_TEXT,
            ),
            "said_at": st.one_of(ODD_SAID_AT, ODD_TEXT),
            "timezone": st.one_of(st.sampled_from(ZONES), ODD_TEXT),
        },
    ),
    st.dictionaries(st.binary(min_size=1, max_size=20), st.binary(max_size=200), max_size=2),
)  # fmt: skip
"""Entries of the queue, as bytes; a few of them are turns like others."""

EDGES = (datetime.min, datetime.max)  # noqa: DTZ901 - without an offset is part of what is odd
INSTANTS = st.one_of(
    st.sampled_from((NOW, *EDGES, NOW.replace(tzinfo=None), datetime(1, 1, 1, tzinfo=UTC))),
    st.builds(
        lambda year, seconds: datetime(year, 6, 1, 12, tzinfo=timezone(timedelta(seconds=seconds))),
        st.integers(1, 9999),
        st.integers(-86_399, 86_399),
    ),
)
NUMBERS = st.one_of(
    st.sampled_from((float("inf"), float("-inf"), float("nan"), 1e308, -1.0, 10**17, True, 0)),
    st.integers(-(2**63), 2**63),
)
WRONG: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    NUMBERS,
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.none(), max_size=2),
)
TEXTS: st.SearchStrategy[Any] = st.one_of(
    ODD_TEXT, ODD_TEXT, st.text(st.characters(codec=None), max_size=9), st.just("a\0b"), WRONG
)
TAGS: st.SearchStrategy[Any] = st.one_of(
    st.lists(TEXTS, max_size=4).map(tuple),
    st.integers(1_000, 5_000).map(lambda n: tuple(map(str, range(n)))),
    WRONG,
)
_ID = st.sampled_from((UUID(int=0), UUID(int=2**128 - 1), UUID(int=7)))


def _few(good: Any, odd: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """``good`` fields of which up to three are replaced by odd ones."""
    return st.lists(st.sampled_from(sorted(odd)), min_size=1, max_size=3, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: odd[name] for name in names}).map(
            lambda bad: {**good, **bad}
        )
    )


_ORIGIN: dict[str, Any] = {
    "project_id": "default", "session_id": "s", "turn_ids": ("t",), "said_at": NOW, "provenance": "user_stated",
    "source_span": None,
}  # fmt: skip
_ORIGINS = st.one_of(
    st.just(CardOrigin(**_ORIGIN)),
    _few(
        _ORIGIN,
        {
            **dict.fromkeys(
                ("project_id", "session_id", "provenance", "speaker", "agent_id", "context_layer", "mode"), TEXTS
            ),
            "turn_ids": TAGS,
            "said_at": st.one_of(INSTANTS, WRONG),
            "source_span": st.builds(SourceSpan, turn_id=TEXTS, start=NUMBERS, end=NUMBERS, text=TEXTS),
        },
    ).map(lambda fields: CardOrigin(**fields)),
    WRONG,
)  # fmt: skip
_CARD = {"content": "poison", "tags": ("a",), "origin": CardOrigin(**_ORIGIN)}
_ODD_CARD = {
    "content": TEXTS, "tags": TAGS, "origin": _ORIGINS, "confidence": st.one_of(NUMBERS, TEXTS), "weight": NUMBERS,
}  # fmt: skip


def _event(
    cls: Callable[..., Any], good: dict[str, Any], odd: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[Any]:
    return _few(good, odd).map(lambda fields: cls(**fields))


CARDS = st.one_of(
    _event(
        StateAsserted,
        {**_CARD, "entity": "user", "concept_key": "residence", "value": "Taipei", "cardinality": "single_value",
         "effective_at": NOW},
        {**_ODD_CARD, "entity": TEXTS, "concept_key": TEXTS, "value": TEXTS, "replaces": TEXTS, "cardinality": TEXTS,
         "effective_at": INSTANTS, "statement": TEXTS},
    ),
    _event(
        EventNoted,
        {**_CARD, "entity": "user", "occurred_at": NOW, "episode": True},
        {**_ODD_CARD, "entity": TEXTS, "occurred_at": INSTANTS, "occurred_until": INSTANTS, "importance": NUMBERS,
         "topics": TAGS, "sentiment": TEXTS, "replaces_event": st.one_of(_ID, TEXTS), "status": TEXTS,
         "before": st.lists(st.builds(Utterance, TEXTS, TEXTS), max_size=3).map(tuple)},
    ),
    _event(
        KnowledgeLearned,
        {**_CARD, "title": "poison", "definition": "what harms"},
        {**_ODD_CARD, "title": TEXTS, "definition": TEXTS, "aliases": TAGS, "related_titles": TAGS},
    ),
    st.builds(TagAliased, alias=TEXTS, tag=TEXTS),
    st.builds(KnowledgeMerged, from_title=TEXTS, into_title=TEXTS, reason=TEXTS, project_id=TEXTS),
    st.builds(ConceptPinned, card_id=_ID, pinned=st.booleans()),
    st.builds(WebhookAdded, url=TEXTS, secret=TEXTS, types=st.lists(TEXTS, max_size=3).map(tuple)),
    st.builds(WebhookRemoved, webhook_id=_ID),
    st.builds(ThreadOpened, title=TEXTS, project_id=TEXTS, mode=TEXTS, thread_id=_ID, reason=TEXTS),
    st.builds(CardsThreaded, thread_id=_ID, card_ids=st.lists(_ID, max_size=3).map(tuple), reason=TEXTS),
    st.builds(InsightDerived, content=TEXTS, kind=TEXTS, theme=TEXTS, project_id=TEXTS, reason=TEXTS,
              sources=st.lists(_ID, max_size=3).map(tuple)),
    st.builds(InsightRetracted, insight_id=_ID, digest=TEXTS, reason=TEXTS,
              sources=st.lists(_ID, max_size=3).map(tuple)),
    st.builds(CardsConnected, from_card=_ID, to_card=_ID, predicate=TEXTS, reason=TEXTS, confidence=NUMBERS),
    st.builds(CardVerified, card_id=_ID, kind=TEXTS, by=TEXTS),
    st.builds(PersonNoted, name=TEXTS, kinship=TEXTS, origin=_ORIGINS),
    st.builds(PersonAliased, person_id=_ID, alias=TEXTS, kind=TEXTS, origin=_ORIGINS),
    st.builds(PersonsMerged, person_id=_ID, into_id=_ID, reason=TEXTS, origin=_ORIGINS),
    st.builds(PersonMergeProposed, person_id=_ID, into_id=_ID, reason=TEXTS, digest=TEXTS, confidence=NUMBERS),
    st.builds(ConflictRuled, arbitration_id=_ID, verdict=TEXTS, reason=TEXTS, by=TEXTS),
)  # fmt: skip
"""Payloads that projectors fold: whatever fields can be made to hold, whether or not their types allow it."""

TURNS = _event(
    TurnRecorded,
    {"turn_id": "t", "text": "I live in Taipei.", "role": "user", "said_at": NOW, "timezone": "UTC", "session_id": "s",
     "project_id": "default"},
    {
        **dict.fromkeys(("turn_id", "text", "role", "session_id", "project_id", "speaker", "agent_id", "document_id",
                         "context_layer", "mode"), TEXTS),
        "said_at": st.one_of(INSTANTS, WRONG),
        "timezone": st.one_of(st.sampled_from(ZONES), TEXTS),
    },
)  # fmt: skip
"""Recorded turns as no recorder records them."""
