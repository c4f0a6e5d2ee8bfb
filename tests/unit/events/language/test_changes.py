"""What a text tells beside its topic."""

import pytest

from events.language.changes import denies


@pytest.mark.parametrize("text", ["Is not allergic to nuts", "我不吃肉", "我對花生冇敏感", "佢唔食肉"])
def test_a_denial_is_read_in_english_and_in_both_spoken_forms_of_chinese(text: str) -> None:
    assert denies(text)


@pytest.mark.parametrize("text", ["Is allergic to nuts", "我對花生敏感"])
def test_what_is_so_is_no_denial(text: str) -> None:
    assert not denies(text)
