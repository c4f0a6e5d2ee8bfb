"""A question means one of two people of a name, and cards about the other one are about somebody else."""

from datetime import UTC, datetime
from uuid import uuid4

from events.people.mentions import read
from events.people.person import Named
from retrieval.recall.named_people import NamedPeople, named_people
from tests.support.cards import card
from tests.support.tables import examples
from tests.unit.events.people.test_person import merged, people

SISTER, BROTHER, WORK = "robin|sister", "robin|brother", "robin|work"
SAID = (
    "My sister Robin called.",
    "My brother Robin called.",
    "Robin from work called.",
    "Robina Castellanos told me.",
)
WHOLE = "robina castellanos|"


def meant(question: str, *events: tuple[str, str]) -> NamedPeople | None:
    known = people(*SAID, events=[merged(*pair) for pair in events])
    return named_people(known, question, read(question).mentions)


@examples
def test_a_question_means_people(question: str, handles: list[str]) -> None:
    found = meant(question)
    assert found is not None
    assert sorted(each.handles[0] for each in found.meant) == handles


def test_a_question_without_people_means_nobody() -> None:
    assert meant("What should I cook tonight?") is None


def test_the_other_names_of_a_person_are_looked_for() -> None:
    question = "What did Robina Castellanos tell me?"
    found = meant(question, (WORK, WHOLE))
    assert found is not None
    assert found.other_names("What did Robin from work tell me?") == ["Robina Castellanos"]
    assert found.other_names("Robina Castellanos?") == []


def test_a_label_is_no_other_name() -> None:
    question = "How is Mum?"
    found = named_people(people("My mother is ill."), question, read(question).mentions)
    assert found is not None
    assert found.other_names(question) == []


def test_a_name_alone_means_who_is_named_in_its_turn() -> None:
    found = meant("What did Robin from work tell me?")
    assert found is not None
    cards = [uuid4() for _ in range(4)]

    named = [
        Named(
            event_id=each, handle=handle, name="Robin", roles=("named",), certain=True,
            said_at=datetime.now(UTC), turn_id=turn,
        )
        for each, handle, turn in zip(cards[:3], (SISTER, WORK, "robin|"), ("t1", "t2", "t1"), strict=True)
    ]  # fmt: skip
    told = [card(card_id=each, content="My brother Robin called.") for each in cards]
    assert found.about_others(told, named) == {cards[0], cards[2], cards[3]}
