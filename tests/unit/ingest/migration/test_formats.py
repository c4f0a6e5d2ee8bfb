"""The forms of other memories: what is read, what is left out, and what is refused with its place."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.migration.chats.message import LeftOut
from ingest.migration.portable import read_okf
from ingest.migration.texts import Format, Memories, TextInvalidError, decoded, read, sentences, told_name
from tests.support.tables import LongText, examples, examples_and


def texts(found: Memories) -> list[str]:
    return [each.text for each in found.memories]


@examples
def test_the_form_and_the_date_are_told_by_the_text(text: str, form: str) -> None:
    found = read(text)
    assert found.format == form
    assert {each.text for each in found.memories} == {"Likes tea"}
    day = datetime(2024, 5, 3, 12, tzinfo=UTC)
    assert {each.at.replace(microsecond=0) for each in found.memories if each.at is not None} == {day}


def test_undated_saved_memories_are_lines() -> None:
    found = read(
        "User likes tea. They live in Rome.\n\nThe user's name is Ada\n用戶喜歡茶\n[unknown] - Likes jazz\n"
    )
    assert found.format == "chatgpt"
    assert texts(found)[0] == "User likes tea. They live in Rome."
    assert texts(found)[1:] == ["The user's name is Ada", "用戶喜歡茶", "Likes jazz"]
    assert {each.at for each in found.memories} == {None}


def test_notes_are_list_items_and_sentences_of_paragraphs() -> None:
    found = read(
        "# About me\n\nWorks with Dr. Smith. Likes\n**tea**! 住在台北。喜歡茶。\n\n- [x] has a dog. His name is Rex\n"
        "  and he is old\n1) drinks `mate`\n\n| a | b |\n```\ncode\n```\nSwims\n"
    )
    assert found.format == "notes"
    assert texts(found) == [
        "Works with Dr. Smith.", "Likes tea!", "住在台北。", "喜歡茶。", "has a dog. His name is Rex and he is old",
        "drinks mate", "Swims",
    ]  # fmt: skip
    assert found.remarks == ["5 lines are left out: headings, tables and code"]


def test_relations_and_further_pages_are_remarked() -> None:
    found = read('{"results": [{"memory": "Likes tea"}], "relations": [{"source": "a"}], "next": "http://x"}')
    assert [each.split(";")[0].split(":")[0] for each in found.remarks] == [
        "the relations of the graph are left out",
        "this is one page of several",
    ]


def test_an_empty_memory_is_left_out_and_counted() -> None:
    found = read('[{"memory": "Likes tea"}, {"memory": " "}, {"memory": ""}]')
    assert [each.text for each in found.memories] == ["Likes tea"]
    assert found.remarks == ["memories without words are left out: 2"]


@examples_and(
    ("# only a heading", "notes", ""),
)
def test_a_wrong_text_is_refused_with_its_place(text: LongText, form: Format, where: str) -> None:
    with pytest.raises(TextInvalidError) as refused:
        read(text, form)
    assert refused.value.where == where, refused.value
    assert len(refused.value.reason) > 10


@pytest.mark.parametrize(
    ("data", "where"), [(b"a\nb\xff", "line 2"), ("Likes tea".encode("utf-16"), "line 1")]
)
def test_another_encoding_is_refused_with_its_place(data: bytes, where: str) -> None:
    with pytest.raises(TextInvalidError) as refused:
        decoded(data)
    assert refused.value.where == where
    assert "UTF-8" in refused.value.reason


@examples
def test_a_text_tells_the_name_of_its_user(text: str, name: str | None) -> None:
    assert told_name(read(text, "notes").memories) == name


def test_dots_cost_linear_time() -> None:
    paragraph = "A. " * 200_000
    assert [len(each) for each in sentences(paragraph)] == [len(paragraph)]


def test_a_byte_order_mark_is_no_word() -> None:
    assert texts(read(decoded(b"\xef\xbb\xbfLikes tea"))) == ["Likes tea"]


def test_a_folder_gives_only_its_own_files(tmp_path: Path) -> None:
    folder, outside = tmp_path / "okf", tmp_path / "outside.md"
    folder.mkdir()
    concept = "---\ntype: note\n---\nThe boiler is in the attic.\n"
    outside.write_text(concept)
    (folder / "own.md").write_text(concept)
    (folder / "link.md").symlink_to(outside)
    os.mkfifo(folder / "pipe.md")
    left_out = LeftOut()
    [message] = read_okf(folder, left_out)
    assert "boiler" in message.text
    assert left_out.reasons["no file of this folder: a link that leaves it, or a device"].count == 2
