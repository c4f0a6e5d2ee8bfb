"""The score of an episode is three for a topic, four for a path, and the importance."""

from datetime import UTC, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from events.core.places import pointer_of, related_paths, touches
from events.language.concepts import all_concepts
from retrieval.episodes import Episode, best, scored
from tests.support.tables import examples

NOW = datetime(2026, 5, 8, tzinfo=UTC)


def episode(
    number: int = 1,
    topics: tuple[str, ...] = (),
    paths: tuple[str, ...] = (),
    importance: int | None = 5,
) -> Episode:
    return Episode(
        card_id=UUID(int=number), content="x", occurred_at=NOW, said_at=NOW, speaker=None, topics=topics,
        sentiment=None, importance=importance, related_paths=paths, turn_ids=("t",), session_id="s",
        project_id="default", mode=None,
    )  # fmt: skip


def test_a_score_adds_topics_paths_and_importance() -> None:
    told = episode(topics=("Yoga", "stress"), paths=("/healthProfile/conditions",), importance=8)
    found = scored(told, ["yoga", "Stress", "sleep"], ["/healthProfile/conditions/0", "/work"])
    assert (found.topics, found.paths, found.score) == (
        ("yoga", "Stress"),
        ("/healthProfile/conditions/0",),
        3 + 3 + 4 + 8,
    )
    assert scored(episode(importance=None), [], []).score == 5


@examples
def test_a_topic_is_had_in_any_case_script_and_ending(topics: tuple[str, ...], asked: str, had: bool) -> None:
    assert bool(scored(episode(topics=topics), [asked], []).topics) == had


def test_the_best_come_first_and_there_are_at_most_k() -> None:
    given_episodes = [episode(1), episode(2, importance=9), episode(3, topics=("tea",)), episode(4)]
    assert [each.episode.card_id.int for each in best(given_episodes, ["tea"], [], 3)] == [2, 3, 1]


def test_every_registered_concept_has_a_place_of_its_own() -> None:
    places = [pointer_of(each.key) for each in all_concepts()]
    assert len(set(places)) == len(places)
    assert all(place.startswith("/") and not place.startswith("/dynamicCategories") for place in places)
    assert pointer_of("medical_condition") == "/healthProfile/conditions"
    assert pointer_of("yoga_routine") == "/dynamicCategories/yogaRoutine"
    assert related_paths(["job", "occupation"]) == ("/workProfile/occupation",)


@given(st.text(max_size=30))
def test_any_key_has_a_pointer_below_a_category(key: str) -> None:
    place = pointer_of(key)
    assert touches(place, place.rsplit("/", 1)[0] or "/")
    assert place.count("/") >= 2
