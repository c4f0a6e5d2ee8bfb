"""Channels vote together, an explanation adds up their votes, and no channel finds the cards of another user."""

from dataclasses import replace
from datetime import timedelta

import pytest

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.cards import StateAsserted
from retrieval.http.wiring import open_channels
from tests.support.projectors.folding import NOW, ORIGIN, apart, fold_live
from tests.support.retrieval.channels import hits_of, noted, recall


def test_the_same_words_in_two_turns_are_one_card_that_names_both(
    database: str, connection: Connection
) -> None:
    said = [replace(ORIGIN, turn_ids=(turn,)) for turn in ("t1", "t2")]
    log.append(connection, [apart(replace(noted("Feed the cat"), origin=origin)) for origin in said])
    fold_live(database)
    [card] = recall(database, "cat")["cards"]
    assert sorted(card["turn_ids"]) == ["t1", "t2"]


def test_an_explanation_names_the_votes_and_the_fate_of_each_card(
    database: str, connection: Connection
) -> None:
    homes = [("Taipei", NOW - timedelta(days=90)), ("Kaohsiung", NOW - timedelta(days=1))]
    log.append(
        connection,
        [
            apart(
                StateAsserted(
                    content=f"I live in {city}", entity="user", concept_key="residence", value=city,
                    cardinality="single_value", tags=(), origin=ORIGIN, effective_at=at, announced=True,
                )
            )
            for city, at in homes
        ]
        + [apart(noted("We live and learn"))],
    )  # fmt: skip
    fold_live(database)
    answer = recall(database, "where do I live?", explain=True, k=1)
    explain = answer["explain"]
    assert explain["question"]["language"] == "english"
    assert explain["question"]["intent"] == "present"
    assert explain["question"]["wants"] == []
    assert explain["question"]["concepts"] == ["residence"]
    assert explain["scope"]["projects"] == ["default"]
    assert set(explain["channels"]) == {"semantic", "tags", "fuzzy", "time", "graph"}
    first, second = explain["cards"][:2]
    assert (first["content"], first["left_out"]) == ("I live in Kaohsiung", None)
    assert first["contributions"]["fact asked for"] > 1
    assert second["left_out"] == "only the best 1 were asked for"
    for card in (first, second):
        assert sum(card["contributions"].values()) == pytest.approx(card["score"], abs=1e-3)
    assert answer["cards"][0]["score"] == pytest.approx(first["score"], abs=1e-3)
    last = recall(database, "which places did I live in last?", explain=True)["explain"]["question"]
    assert last["wants"] == ["the latest of several times", "a list or a number of things"]
    [withheld] = explain["withheld"]
    assert withheld["content"] == "I live in Taipei"
    assert withheld["reason"].startswith("it is no longer true since 2026-05-07")
    assert "explain" not in recall(database, "where do I live?")


@pytest.mark.parametrize("name", ["tags", "fuzzy", "time"])
def test_keys_that_meet_those_of_another_user_find_nothing_of_theirs(
    database: str, connection: Connection, name: str
) -> None:
    log.append(connection, [apart(noted("harbour 河邊散步")), apart(noted("harbour 河邊散步"), user="bob")])
    fold_live(database)
    connection.execute(
        """UPDATE cards.cards c SET term_keys = o.term_keys, pair_keys = o.pair_keys
           FROM cards.cards o WHERE c.user_id = 'bob' AND o.user_id = 'alex'"""
    )
    own = connection.execute("SELECT card_id FROM cards.cards WHERE user_id = 'alex'").fetchall()
    each = next(each for each in open_channels(Settings()) if each.name == name)
    hits = hits_of(database, each, "harbour 河邊散步 in 2026", "alex")
    assert [(hit.card_id,) for hit in hits] == own
