"""Relations and neighbours of a hit find cards that share no word with the question."""

from __future__ import annotations

from dataclasses import replace

from events.platform.database import Connection
from events.store import log
from events.types.cards import KnowledgeLearned
from events.types.relations import CardsConnected
from tests.support.projectors.folding import ORIGIN, apart, event, fold_live
from tests.support.retrieval.channels import noted, recall


def test_a_card_that_shares_no_word_is_found_through_what_it_is_related_to(
    database: str, connection: Connection
) -> None:
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
    fold_live(database)
    answer = recall(database, "what is JWT?")
    assert [card["title"] for card in answer["cards"]] == ["JWT", "OAuth"]
    assert set(answer["cards"][1]["channels"]) == {"graph"}


def test_what_was_said_next_to_a_hit_is_found_and_comes_after_it(
    database: str, connection: Connection
) -> None:
    log.append(
        connection, [apart(noted(text)) for text in ("We met Zoe", "It was about the harbour", "Nice day")]
    )
    fold_live(database)
    answer = recall(database, "harbour")
    assert answer["cards"][0]["content"] == "It was about the harbour"
    assert {card["content"] for card in answer["cards"][1:]} == {"We met Zoe", "Nice day"}


def test_the_graph_never_leaves_the_walls(database: str, connection: Connection) -> None:
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
    fold_live(database)
    contents = [card["content"] for card in recall(database, "harbour")["cards"]]
    assert contents == ["We planned the harbour"]
