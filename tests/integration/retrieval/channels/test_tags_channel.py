"""Words find cards in both languages, misspelt too. Rare words come before common words."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from events.platform.database import Connection
from events.store import log
from retrieval.channels.words import TagsChannel
from retrieval.query.scope import Size
from tests.support.projectors.folding import NOW, apart, event, fold_live
from tests.support.retrieval.channels import hits_of, noted, recall
from tests.support.tables import examples


def contents_found(database: str, connection: Connection, text: str) -> list[str]:
    """Returns the contents of alex's cards that the channel finds, best first."""
    ids = [hit.card_id for hit in hits_of(database, TagsChannel(), text, "alex")]
    contents = dict(connection.execute("SELECT card_id, content FROM cards.cards").fetchall())
    return [contents[card_id] for card_id in ids]


@examples
def test_a_name_finds_the_cards_that_say_it_in_the_other_language(
    connection: Connection, question: str, found: str
) -> None:
    cards = (
        "暑假要去日本看煙火",
        "We slept in a temple in Kyoto",
        "隔壁鄰居是護理師",
        "We painted the shed",
        "昨天修水管",
    )
    log.append(connection, [event(noted(content)) for content in cards])
    fold_live(connection)
    first = recall(connection, question)["cards"][0]
    assert first["content"] == found
    assert "tags" in first["channels"]


def test_a_word_that_is_everywhere_orders_what_rarer_words_find(
    database: str, connection: Connection, monkeypatch: Any
) -> None:
    log.append(connection, [apart(noted(f"meeting number {n}")) for n in range(12)])
    log.append(connection, [apart(noted("zebra meeting")), apart(noted("zebra")), apart(noted("harbour"))])
    fold_live(database)
    found = partial(contents_found, database, connection)
    assert len(found("zebra meeting")) == 14
    monkeypatch.setattr("retrieval.query.scope.COMMON", 10)
    assert found("zebra meeting") == ["zebra meeting", "zebra"]
    assert len(found("meeting")) == 13  # with nothing rarer to go by, it finds
    later = replace(noted("a meeting at last"), occurred_at=NOW + timedelta(hours=1))
    log.append(connection, [apart(later)])
    fold_live(database)
    monkeypatch.setattr("retrieval.channels.words._RANKED", 1)
    assert found("meeting") == ["a meeting at last"]
    assert found("zebra meeting") == ["zebra meeting", "zebra"]


def test_a_word_in_most_cards_of_a_user_with_few_cards_finds_none_beside_a_rarer_one(
    database: str, connection: Connection
) -> None:
    log.append(connection, [apart(noted(f"meeting number {n}")) for n in range(55)])
    log.append(connection, [apart(noted("zebra meeting"))])
    fold_live(database)
    found = partial(hits_of, database, TagsChannel(), user="alex", size=Size(56))
    assert (len(found("zebra meeting")), len(found("meeting"))) == (1, 56)


def test_common_words_meet_in_the_cards_that_answer(
    database: str, connection: Connection, monkeypatch: Any
) -> None:
    texts = [f"coffee number {n}" for n in range(12)] + [f"harbour number {n}" for n in range(12)]
    log.append(connection, [apart(noted(text)) for text in [*texts, "coffee at the harbour"]])
    fold_live(database)
    found = partial(contents_found, database, connection)
    assert len(found("harbour coffee")) == 25
    monkeypatch.setattr("retrieval.query.scope.COMMON", 10)
    assert found("harbour coffee") == ["coffee at the harbour"]
    # Where two words never meet in a card, each finds cards by itself.
    monkeypatch.setattr("retrieval.query.scope.COMMON", 11)
    connection.execute("DELETE FROM cards.cards WHERE content = 'coffee at the harbour'")
    assert len(found("harbour coffee")) == 24


def test_a_misspelt_word_finds_the_words_at_one_edit(database: str, connection: Connection) -> None:
    log.append(
        connection,
        [
            apart(noted("We adopted kittens")),
            apart(noted("They planed the boards")),
            apart(noted("A harbour")),
        ],
    )
    fold_live(database)
    found = partial(contents_found, database, connection)
    for misspelt in ("adpoted", "adoptted", "adoptes", "adopetd", "kitens"):
        assert found(f"who was {misspelt}?") == ["We adopted kittens"], misspelt
    assert found("planet") == ["They planed the boards"]  # no card says planet
    log.append(connection, [apart(noted("A planet"))])
    fold_live(database)
    assert found("planet") == ["A planet"]  # a word the user knows means itself
    assert found("what was the slipper like?") == []


def test_no_question_makes_the_look_up_of_misspelt_words_long(connection: Connection) -> None:
    log.append(connection, [apart(noted("We adopted kittens"))])
    fold_live(connection)
    unknown = " ".join(f"zebra{letter}" for letter in "abcdefgh")
    assert hits_of(connection, TagsChannel(), f"adpoted {unknown}", "alex")
    assert hits_of(connection, TagsChannel(), f"{unknown} adpoted", "alex") == []
