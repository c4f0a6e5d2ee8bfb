"""Relations of people and agents are additive, name their author, and never form a circle."""

from itertools import permutations
from uuid import UUID

from events.types.envelope import Event
from events.types.relations import CardsConnected, ConnectionWithdrawn, Predicate
from tests.support.projectors.statements import event, moved, said
from tests.support.projectors.tables import tables_of

A, B, C = (UUID(int=number) for number in (1, 2, 3))


def connected(from_card: UUID, to_card: UUID, predicate: Predicate = "update", user: str = "u") -> Event:
    payload = CardsConnected(from_card=from_card, to_card=to_card, predicate=predicate, reason="said so")
    return event(payload, 1, user)


def withdrawn(from_card: UUID, to_card: UUID, predicate: Predicate = "update") -> Event:
    payload = ConnectionWithdrawn(from_card=from_card, to_card=to_card, predicate=predicate, reason="not so")
    return event(payload, 2)


def refused(*batches: list[Event]) -> dict[tuple[UUID, UUID], bool]:
    return {(key[1], key[2]): row.refused for key, row in tables_of(*batches).relations.items()}


def test_whatever_comes_last_of_a_circle_is_refused() -> None:
    for order in permutations([(A, B), (B, C), (C, A)]):
        found = refused([connected(*cards) for cards in order])
        assert [cards for cards in order if found[cards]] == [order[-1]]


def test_updates_and_changes_of_state_are_one_chain() -> None:
    assert refused([connected(A, B), connected(B, A, "state_change")]) == {(A, B): False, (B, A): True}
    assert refused([connected(A, B), connected(B, A, "expands")]) == {(A, B): False, (B, A): False}


def test_nothing_relates_to_itself() -> None:
    assert refused([connected(A, A, "related_to")]) == {(A, A): True}


def test_a_link_that_was_taken_back_closes_no_circle() -> None:
    assert refused([connected(A, B)], [withdrawn(A, B), connected(B, A)]) == {(B, A): False}
    # A refused relation stays refused until somebody states it again.
    steps = [connected(A, B), connected(B, A), withdrawn(A, B)]
    assert refused(steps) == {(B, A): True}
    assert refused(steps, [connected(B, A)]) == {(B, A): False}


def test_a_relation_names_its_author_and_an_implied_one_its_statement() -> None:
    first, second = said("Taipei", 0), moved("Tainan", 5)
    tables = tables_of([first, second, connected(second.event_id, first.event_id)])
    rows = {key[4]: row for key, row in tables.relations.items()}
    assert (rows[False].actor, rows[False].reason) == ("test", "said so")
    assert rows[True].event_id == second.event_id
    assert "no longer Taipei" in rows[True].reason


def test_no_relation_changes_a_card() -> None:
    first, second = said("Taipei", 0), moved("Tainan", 5)
    alone = tables_of([first, second])
    for predicate in ("retracts", "update", "contradicts"):
        tables = tables_of([first, second, connected(first.event_id, second.event_id, predicate)])
        assert tables.cards == alone.cards
