"""Edges lead to the end of a chain, and join equal cards."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from retrieval.cards.chain import Chains, RelationEdge, duplicates, same

START = datetime(2026, 1, 1, tzinfo=UTC)
CARDS = [UUID(int=number + 1) for number in range(8)]
PREDICATES = ("update", "state_change", "same_as", "expands", "contradicts")


def begun(card: UUID) -> datetime:
    return START + timedelta(days=card.int)


def edge(newer: int, older: int, predicate: str = "update") -> RelationEdge:
    return RelationEdge(from_card=CARDS[newer], to_card=CARDS[older], predicate=predicate)


def test_a_chain_follows_updates_and_changes_of_state() -> None:
    edges = [edge(1, 0), edge(3, 1, "state_change"), edge(4, 0, "expands"), edge(5, 3, "contradicts")]
    assert Chains(edges).latest(CARDS[0], begun) == (CARDS[0], CARDS[1], CARDS[3])
    assert Chains(edges).latest(CARDS[4], begun) == (CARDS[4],)


def test_what_has_not_begun_is_not_the_latest() -> None:
    edges = [edge(1, 0), edge(2, 1)]
    assert Chains(edges).latest(CARDS[0], lambda card: None if card == CARDS[2] else begun(card)) == (
        CARDS[0],
        CARDS[1],
    )


def test_of_two_that_supersede_the_later_wins() -> None:
    assert Chains([edge(1, 0), edge(2, 0)]).latest(CARDS[0], begun)[-1] == CARDS[2]


def test_what_supersedes_one_supersedes_the_same_said_again() -> None:
    edges = [edge(1, 0, "same_as"), edge(2, 1, "same_as"), edge(5, 2)]
    assert Chains(edges).latest(CARDS[0], begun)[-1] == CARDS[5]
    assert same(edges)[CARDS[0]] == {CARDS[0], CARDS[1], CARDS[2]}
    assert duplicates(edges) == [CARDS[1], CARDS[2]]


links = st.lists(
    st.builds(edge, st.integers(0, 7), st.integers(0, 7), st.sampled_from(PREDICATES)), max_size=30
)


@given(links, st.integers(0, 7))
def test_any_edges_come_to_an_end_that_nothing_supersedes(edges: list[RelationEdge], start: int) -> None:
    way = Chains(edges).latest(CARDS[start], begun)
    assert len(set(way)) == len(way)
    groups = same(edges)
    passed = {twin for card in way for twin in groups.get(card, {card})}
    following = {
        one.from_card
        for one in edges
        if one.predicate in ("update", "state_change") and one.to_card in groups.get(way[-1], {way[-1]})
    }
    assert following <= passed


@given(links)
def test_one_of_those_that_are_the_same_is_left(edges: list[RelationEdge]) -> None:
    gone = set(duplicates(edges))
    for group in same(edges).values():
        assert len(group - gone) == 1
