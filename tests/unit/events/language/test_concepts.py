"""Concept keys: each fact has one canonical key, for every writer and every question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.concepts import (
    all_concepts,
    canonical_key,
    concept,
    concepts_asked,
    default_cardinality,
    drift,
    normalise_entity,
    normalise_value,
)
from tests.support.tables import examples


@examples
def test_a_name_has_one_canonical_key(name: str, key: str) -> None:
    assert canonical_key(name) == key
    assert canonical_key(key) == key


def test_every_alias_leads_to_its_concept_and_no_other() -> None:
    for registered in all_concepts():
        for alias in registered.aliases:
            found = concept(alias)
            assert found is not None, alias
            assert found.key == registered.key, alias


@examples
def test_cardinality_follows_the_registry_and_then_the_form(key: str, cardinality: str) -> None:
    assert default_cardinality(key) == cardinality


@examples
def test_the_same_fact_said_otherwise_has_the_same_identity(key: str, one: str, other: str) -> None:
    assert normalise_value(key, one) == normalise_value(key, other)


@examples
def test_different_facts_have_different_identities(key: str, one: str, other: str) -> None:
    assert normalise_value(key, one) != normalise_value(key, other)


@pytest.mark.parametrize("name", ["I", "me", "我", "用戶", "User", "myself", "本人", "  "])
def test_every_way_to_say_oneself_is_the_user(name: str) -> None:
    assert normalise_entity(name) == "user"


def test_entities_lose_case_script_articles_and_the_word_project() -> None:
    assert normalise_entity("My sister") == "sister"
    assert normalise_entity("The fibon project") == normalise_entity("fibon") == "fibon"
    assert normalise_entity("張偉") == normalise_entity("张伟")
    assert normalise_entity("Alex") != normalise_entity("Alexa")


@examples
def test_a_question_names_the_concept_it_asks_for(question: str, key: str) -> None:
    assert key in concepts_asked(question)[:2]


@pytest.mark.parametrize("text", ["", "?", "lorem ipsum dolor", "謝謝你"])
def test_a_text_that_asks_for_nothing_names_nothing(text: str) -> None:
    assert concepts_asked(text) == ()


def test_drift_pairs_keys_of_one_concept_and_leaves_others_alone() -> None:
    keys = [
        "residence",
        "home_city",
        "coffee_habit",
        "coffee_habits",
        "school",
        "grade",
        "browser",
        "visa_status",
    ]
    assert drift(keys) == [("coffee_habit", "coffee_habits"), ("home_city", "residence")]


@pytest.mark.parametrize("value", ["Acme" + "," * 65000 + "x", "in " * 21000 + "Ghent", "到" * 21000])
@pytest.mark.parametrize("key", ["employer", "residence", "nationality"])
@pytest.mark.processor_seconds(10)
def test_long_values_have_an_identity(key: str, value: str) -> None:
    assert normalise_value(key, value)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_is_too_strange(key: str, value: str) -> None:
    canonical = canonical_key(key)
    assert canonical
    assert canonical_key(canonical) == canonical
    assert default_cardinality(key) in ("single_value", "multi_value")
    once = normalise_value(key, value)
    assert normalise_value(key, value) == once
    assert normalise_entity(value)
    concepts_asked(value)
    drift([key, value])
