"""Episodes of one theme become one statement of the user's own sentences, which rests on them."""

from dataclasses import replace

import pytest

from events.insights import insights_of
from events.platform.database import Connection
from events.types.insights import InsightDerived
from ingest.curator.memory import Memory
from ingest.curator.passes import consolidate, patterns
from ingest.curator.runner import curate, memory_of
from tests.support.ingest.curating import fold, tell

DEPLOYS = [
    (1, "We moved the deploy target to the cluster in Frankfurt."),
    (4, "The deploy target ran out of disk space today. I cleaned it up."),
    (9, "Mina documented the deploy target in the team wiki."),
]


def statements(memory: Memory) -> list[InsightDerived]:
    payloads = [each.payload for each in consolidate(memory, patterns(memory))]
    return [each for each in payloads if isinstance(each, InsightDerived)]


@pytest.fixture
def known(connection: Connection) -> Memory:
    tell(connection, *DEPLOYS)
    return memory_of(connection, "ada")


def test_episodes_of_a_theme_become_one_statement_of_their_own_sentences(
    known: Memory, connection: Connection
) -> None:
    [found] = statements(known)
    assert found.content == (
        "Told 3 times: “We moved the deploy target to the cluster in Frankfurt” “The deploy target ran out of disk "
        "space today” “Mina documented the deploy target in the team wiki”"
    )
    episodes = [card for card in known.cards if card.episode]
    assert found.sources == tuple(card.card_id for card in episodes)
    reordered = replace(known, cards=tuple(reversed(known.cards)))
    assert {each.theme for each in statements(reordered)} == {found.theme}
    curate(connection, "ada")
    [derived] = insights_of(connection, "ada").present
    assert (derived.kind, derived.content, derived.status) == ("consolidated", found.content, "current")
    fold(connection)
    assert [curate(connection, "ada").events for _ in range(2)] == [(), ()]
    tell(connection, (15, "The deploy target is fast again."))
    assert curate(connection, "ada").events == ()


def test_a_statement_needs_three_sessions_of_one_mode_and_project_that_happened(known: Memory) -> None:
    at, first = next((at, card) for at, card in enumerate(known.cards) if card.episode)
    others = (
        replace(first, mode="journal"),
        replace(first, project_id="work"),
        replace(first, session_id="day 4"),
        replace(first, provenance="assistant_stated"),
        replace(first, content="We will move the deploy target to Frankfurt."),
        replace(first, content="We have not moved the deploy target to Frankfurt."),
        replace(first, content="The cluster moved to Frankfurt in one go."),
        replace(first, retracted=True),
        replace(first, superseded_at=first.said_at),
    )
    for other in others:
        cards = (*known.cards[:at], other, *known.cards[at + 1 :])
        assert statements(replace(known, cards=cards)) == []
