"""The people of a user are folded once, and again after anything that tells more of them."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from events.people.person import People
from events.platform.database import Connection
from events.store import log
from events.types.cards import StateAsserted
from events.types.envelope import NewEvent, partition_of, uuid7
from events.types.extraction import CardsWithdrawn
from events.types.people import PersonNoted
from events.types.relations import CardsConnected, ConnectionWithdrawn, Relation, retraction_of
from events.types.tenancy import storage_id
from events.types.tombstones import SubjectErased
from projectors.forgetting import ForgettingProjection
from projectors.people import PeopleProjector
from retrieval.people import PeopleReader
from tests.support.databases import Place
from tests.support.projectors.folding import NOW, ORIGIN, event, fold_live, noted, rebuild
from tests.support.retrieval.channels import pooled

ADA = storage_id("acme", "ada")
NEIGHBOUR = next(name for name in map(str, range(10_000)) if partition_of(name) == partition_of(ADA))
Present = Callable[[str], Awaitable[People]]


def reading(database: Place, work: Callable[[Present], Awaitable[None]]) -> None:
    pooled(database, lambda pool: work(PeopleReader(pool).present))


def names(people: People) -> set[str]:
    return {" ".join((each.name, *each.kinship)) for each in people.people}


def test_people_are_remembered_until_the_log_tells_more(connection: Connection) -> None:
    sister = noted("My sister Noor is a nurse.", ADA)
    log.append(connection, [sister, noted("My brother Bo is a cook.", NEIGHBOUR)])

    async def work(present: Present) -> None:
        assert names(await present(ADA)) == {"Noor sister"}
        fold_live(connection, PeopleProjector())
        first = await present(ADA)
        # What others are told, and what is no word about people, costs no fold.
        log.append(connection, [noted("My aunt Cy is a baker.", NEIGHBOUR)])
        assert await present(ADA) is first
        fold_live(connection, PeopleProjector())
        assert await present(ADA) is first
        assert names(await present(NEIGHBOUR)) == {"Bo brother", "Cy aunt"}
        assert names(await present(storage_id("other", "ada"))) == set()

        log.append(connection, [event(PersonNoted(name="Dee", origin=ORIGIN), ADA)])
        assert names(await present(ADA)) == {"Noor sister", "Dee"}
        fold_live(connection, PeopleProjector())
        assert names(await present(ADA)) == {"Noor sister", "Dee"}
        gone = CardsWithdrawn(event_ids=(sister.event_id,), positions=(1,), reason="read again")
        # The new card has as many names as the withdrawn one, so the sums of the tables stay.
        log.append(connection, [event(gone, ADA), noted("My cousin Flo is a nurse.", ADA)])
        assert "Flo cousin" in names(await present(ADA))
        fold_live(connection, PeopleProjector())
        assert names(await present(ADA)) == {"Dee", "Flo cousin"}
        rebuild(connection, PeopleProjector())
        assert names(await present(ADA)) == {"Dee", "Flo cousin"}

    reading(connection, work)


def test_a_retracted_tie_is_over_until_it_holds_or_is_said_again(connection: Connection) -> None:
    words = "My sister Noor lives in Rome."
    sister = event(
        StateAsserted(
            content="Has a sister named Noor", entity="user", concept_key="sibling", value="Noor", tags=(),
            cardinality="multi_value", effective_at=NOW, origin=ORIGIN,
        ),
        ADA,
    )  # fmt: skip
    home = replace(sister.payload, content=words, entity="noor", concept_key="residence", value="Rome")
    lives = event(home, ADA)
    log.append(connection, [noted(words, ADA), sister, lives])

    def retraction(kind: type[Relation], card: UUID, day: int) -> NewEvent:
        relation = kind(from_card=retraction_of(card), to_card=card, predicate="retracts", reason="wrong")
        return replace(event(relation, ADA), occurred_at=NOW + timedelta(days=day))

    async def told(present: Present, *events: NewEvent) -> set[str]:
        log.append(connection, list(events))
        unfolded = names(await present(ADA))
        fold_live(connection, PeopleProjector())
        folded = names(await present(ADA))
        rebuild(connection, PeopleProjector())
        assert unfolded == folded == names(await present(ADA))
        return folded

    async def work(present: Present) -> None:
        # The words of the retracted home tell the tie too, but the card says another fact.
        assert await told(present, retraction(CardsConnected, lives.event_id, 1)) == {"Noor sister"}
        assert await told(present, retraction(CardsConnected, sister.event_id, 2)) == {"Noor"}
        assert await told(present, noted("My sister called.", ADA)) == {"Noor", "my sister sister"}
        assert await told(present, retraction(ConnectionWithdrawn, sister.event_id, 3)) == {"Noor sister"}
        assert await told(present, retraction(CardsConnected, sister.event_id, 4)) == {
            "Noor",
            "my sister sister",
        }
        again = noted("My sister Noor called.", ADA)
        later = replace(ORIGIN, said_at=NOW + timedelta(days=5))
        assert await told(present, replace(again, payload=replace(again.payload, origin=later))) == {
            "Noor sister"
        }

    reading(connection, work)


def test_erased_people_are_nobody_at_once(connection: Connection) -> None:
    log.append(
        connection,
        [noted("My sister Noor is a nurse.", ADA), event(PersonNoted(name="Dee", origin=ORIGIN), ADA)],
    )
    fold_live(connection, PeopleProjector())
    erased = SubjectErased(erasure_id=uuid7(), kind="user", subject="x", by="test")

    async def work(present: Present) -> None:
        assert names(await present(ADA)) == {"Noor sister", "Dee"}
        # An erasure of the tables alone, for a log that is not sealed, leaves no event.
        with connection.transaction():
            projection = ForgettingProjection(PeopleProjector())
            projection.hold(connection, ADA)
            projection.forget(connection, ADA, None)
        nobody = await present(ADA)
        assert names(nobody) == set()
        log.append(connection, [event(erased, ADA)])  # the event alone makes it read again
        assert await present(ADA) is not nobody

    reading(connection, work)


def test_of_many_new_cards_the_latest_tell_of_people_until_the_fold(connection: Connection) -> None:
    log.append(
        connection,
        [event(PersonNoted(name="Dee", origin=ORIGIN), ADA), noted("My sister Noor is a nurse.", ADA)],
    )
    log.append(connection, [noted("My aunt Cy is a baker.", ADA) for _ in range(200)])

    async def work(present: Present) -> None:
        # A projector that is far behind holds up no question. What people told is read all the same.
        assert names(await present(ADA)) == {"Dee", "Cy aunt"}
        fold_live(connection, PeopleProjector())
        assert names(await present(ADA)) == {"Dee", "Noor sister", "Cy aunt"}
        log.append(connection, [noted("My brother Bo is a cook.", ADA)])
        log.append(connection, [noted("My aunt Cy is a baker.", ADA) for _ in range(200)])
        assert names(await present(ADA)) == {"Dee", "Noor sister", "Cy aunt"}

    reading(connection, work)
