"""Relations and neighbours of a hit find cards that share no word with the question."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from events.platform.database import Connection
from events.store import log
from events.types.cards import KnowledgeLearned, StateAsserted
from events.types.envelope import NewEvent
from events.types.relations import CardsConnected
from retrieval.channels.channel import Hit
from retrieval.channels.graph import GraphChannel
from retrieval.query.question import understand
from retrieval.query.scope import scope_of
from tests.support.projectors.folding import NOW, ORIGIN, apart, event, fold_live
from tests.support.projectors.plans import Counting
from tests.support.retrieval.channels import noted, recall, searching

PAST = 600
"""States of one entity, each of which ended the one before."""


def test_a_card_that_shares_no_word_is_found_through_what_it_is_related_to(connection: Connection) -> None:
    jwt, oauth, other = (
        apart(
            KnowledgeLearned(
                content=f"{title}: {words}", title=title, definition=words, tags=(), origin=ORIGIN
            )
        )
        for title, words in (
            ("JWT", "a signed token"),
            ("OAuth", "lets apps act for people"),
            ("Ramen", "a soup"),
        )
    )
    log.append(connection, [jwt, oauth, other])
    log.append(
        connection,
        [
            event(
                CardsConnected(
                    from_card=jwt.event_id, to_card=oauth.event_id, predicate="related_to", reason="said so"
                )
            )
        ],
    )
    fold_live(connection)
    answer = recall(connection, "what is JWT?")
    assert [card["title"] for card in answer["cards"]] == ["JWT", "OAuth"]
    assert set(answer["cards"][1]["channels"]) == {"graph"}


def test_what_was_said_next_to_a_hit_is_found_and_comes_after_it(connection: Connection) -> None:
    log.append(
        connection, [apart(noted(text)) for text in ("We met Zoe", "It was about the harbour", "Nice day")]
    )
    fold_live(connection)
    answer = recall(connection, "harbour")
    assert answer["cards"][0]["content"] == "It was about the harbour"
    assert {card["content"] for card in answer["cards"][1:]} == {"We met Zoe", "Nice day"}


def test_the_graph_never_leaves_the_walls(connection: Connection) -> None:
    far = replace(ORIGIN, project_id="elsewhere")
    here, there = apart(noted("We planned the harbour")), apart(noted("Secret budget"))
    there = replace(there, payload=replace(there.payload, origin=far))
    foreign = apart(noted("Of somebody else"), "zoe")
    log.append(connection, [here, there, foreign])
    links = [
        event(
            CardsConnected(
                from_card=here.event_id, to_card=to.event_id, predicate="related_to", reason="said so"
            )
        )
        for to in (there, foreign)
    ]
    log.append(connection, links)
    fold_live(connection)
    contents = [card["content"] for card in recall(connection, "harbour")["cards"]]
    assert contents == ["We planned the harbour"]


def test_the_present_states_of_an_entity_are_read_without_its_past(connection: Connection) -> None:
    def told(key: str, value: str, days_ago: int) -> NewEvent:
        at = NOW - timedelta(days=days_ago)
        fact = StateAsserted(
            content=f"{key} of Rex: {value}", entity="Rex", concept_key=key, value=value, tags=(), announced=True,
            cardinality="single_value", effective_at=at, origin=replace(ORIGIN, said_at=at),
        )  # fmt: skip
        return apart(fact)

    seed = told("food", "herring", 1)
    weights = [told("weight", f"{number} kg", 20 * (PAST - number)) for number in range(PAST)]
    log.append(connection, [*weights, seed])
    fold_live(connection)
    connection.execute("VACUUM ANALYZE")
    question = understand("what does Rex eat?", NOW)

    async def around(pooled: AsyncConnection) -> tuple[Sequence[Hit], float]:
        looking: Any = Counting(pooled)
        scope = scope_of(question, user_id="alex", projects=("default",))
        hits = await GraphChannel({seed.event_id: 1.0}).search(looking, question, scope)
        return hits, looking.rows

    hits, rows = searching(connection, around)
    assert [hit.card_id for hit in hits] == [weights[-1].event_id]
    assert rows < PAST / 4
