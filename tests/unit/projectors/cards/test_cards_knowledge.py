"""Concepts: one card under all their names, deepened, renamed and merged, with nothing lost."""

from events.types.envelope import Event
from events.types.naming import KnowledgeMerged, TagAliased
from projectors.cards.card import StoredCard
from tests.support.projectors.statements import day, event, learned, merged, noted, verified
from tests.support.projectors.tables import tables_of


def concepts(*events: Event) -> dict[str | None, StoredCard]:
    cards = tables_of(list(events)).cards.values()
    return {row.title: row for row in cards if row.kind == "knowledge"}


def test_names_are_one_concept_when_one_is_said_to_be_the_other() -> None:
    apart = [learned("JWT", "a signed token", 1), learned("JSON Web Token", "claims, signed", 2)]
    assert concepts(*apart).keys() == {"JWT", "JSON Web Token"}
    [row] = concepts(*apart, learned("jwt", "short for JSON Web Token", 3, "json web token")).values()
    assert (row.title, row.mentions) == ("JWT", 3)
    assert row.aliases == ["JSON Web Token", "jwt", "json web token"]
    assert row.name_keys == ["json web token", "jwt"]


def test_a_title_with_its_acronym_is_two_names() -> None:
    [row] = concepts(
        learned("JSON Web Token (JWT)", "claims", 1), learned("JWT", "a signed token", 2)
    ).values()
    assert (row.title, row.aliases) == ("JSON Web Token", ["JWT"])
    # Words in brackets are not always a name.
    assert concepts(learned("Mercury (planet)", "the closest", 1)).keys() == {"Mercury (planet)"}


def test_case_width_script_and_articles_do_not_count() -> None:
    rows = concepts(learned("ＪＷＴ", "a", 1), learned("the jwt", "b", 2), learned("JWT", "c", 3))
    assert [row.mentions for row in rows.values()] == [3]
    rows = concepts(learned("資料庫", "存資料的地方", 1), learned("资料库", "存资料的地方", 2))
    assert [row.mentions for row in rows.values()] == [2]


def test_projects_have_concepts_of_their_own() -> None:
    elsewhere = KnowledgeMerged(from_title="JWT", into_title="token", reason="one thing", project_id="other")
    rows = concepts(learned("JWT", "a", 1), learned("token", "b", 2), event(elsewhere, 9))
    assert rows.keys() == {"JWT", "token"}


def test_a_definition_deepens_and_what_it_was_is_kept() -> None:
    events = [
        learned("JWT", "a token", 1),
        learned("JWT", "a signed token", 5),
        learned("JWT", "token", 9),
        learned("JWT", "claims that are signed, in three parts", 12),
    ]
    tables = tables_of(events)
    [row] = tables.cards.values()
    assert row.definition == "claims that are signed, in three parts"
    assert (row.last_verified, row.mentions) == (day(12), 4)
    assert [(change.old_value, change.new_value) for change in tables.updates.values()] == [
        ("a token", "a signed token"),
        ("a signed token", "claims that are signed, in three parts"),
    ]


def test_chinese_definitions_deepen_too() -> None:
    [row] = concepts(
        learned("JWT", "签名的令牌", 1), learned("JWT", "令牌", 2), learned("JWT", "簽名的令牌", 3)
    ).values()
    assert row.definition == "签名的令牌"


def test_merging_makes_one_card_and_the_old_one_leads_to_it() -> None:
    one, other = learned("JWT", "a signed token", 1), learned("web token", "a token of the web", 2)
    tables = tables_of([one, other])
    assert len(tables.cards) == 2
    tables.take([merged("JWT", "Web Token", 9)])
    [(key, row)] = tables.cards.items()
    assert (key[2], row.title, row.mentions) == (one.event_id, "Web Token", 2)
    assert row.aliases == ["JWT", "web token"]
    [(relation, _)] = tables.relations.items()
    assert relation[1:4] == (other.event_id, one.event_id, "same_as")
    assert tables_of([merged("JWT", "Web Token", 9), other], [one]).cards.keys() == tables.cards.keys()


def test_a_rename_is_a_merger_with_what_nobody_explained() -> None:
    [row] = concepts(learned("JWT", "a token", 1), merged("jwt", "JSON Web Token", 3)).values()
    assert (row.title, row.aliases) == ("JSON Web Token", ["JWT", "jwt"])
    [row] = concepts(
        learned("JWT", "a token", 1), merged("JWT", "JSON Web Token", 3), merged("JSON Web Token", "JWT", 4)
    ).values()
    assert row.title == "JWT"


def test_a_confirmation_refreshes_a_concept_and_an_event() -> None:
    concept, walk = learned("JWT", "a token", 1), noted("walked to the sea", 2)
    tables = tables_of(
        [concept, walk],
        [verified(concept.event_id, 100, "knowledge"), verified(walk.event_id, 120, "event")],
        [verified(walk.event_id, 130, "event"), verified(walk.event_id, 110, "event")],
        [verified(walk.event_id, 90, "event")],
    )
    assert sorted(row.last_verified for row in tables.cards.values()) == [day(100), day(130)]


def test_the_latest_word_on_a_tag_counts() -> None:
    words = [event(TagAliased(alias="JSON Web Token", tag=tag), on) for on, tag in ((3, "JWT"), (9, "jose"))]
    for order in (words, words[::-1]):
        for batches in ([order], [[word] for word in order]):
            [(key, (_, _, tag))] = tables_of(*batches).aliases.items()
            assert (key, tag) == (("u", "json web token"), "jose")
