"""Words of Chinese texts, in both scripts."""

from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language import segmentation
from events.language.chinese_script import has_cjk, to_simplified
from events.language.segmentation import Dictionary, build, dictionary, load
from tests.support.tables import examples

HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), max_size=60).map(to_simplified)


@examples
def test_cuts_words(text: str, words: str) -> None:
    assert dictionary().cut(to_simplified(text)) == words.split()


@given(HAN)
def test_words_joined_are_the_run(run: str) -> None:
    assert "".join(dictionary().cut(run)) == run


def test_path_is_the_most_probable() -> None:
    """Compares with every possible way to cut the text."""
    frequencies = {"研究": 50_000, "研究生": 18_000, "生": 2_500, "生命": 49_000, "命": 2_400, "的": 370_000}
    words, total = Dictionary(frequencies.items()), sum(frequencies.values())

    def best(run: str) -> tuple[float, list[str]]:
        if not run:
            return 0.0, []
        ways = []
        for size in range(1, len(run) + 1):
            word = run[:size]
            if size == 1 or word in frequencies:
                rest, found = best(run[size:])
                ways.append((log(frequencies.get(word, 1) / total) + rest, [word, *found]))
        return max(ways)

    for run in ("研究生命的", "研究生的命", "的研究生命", "命研生究"):
        assert words.cut(run) == best(run)[1]


def test_words_inside_a_word() -> None:
    assert dictionary().parts("管理系统") == ("管理", "系统", "管理系")
    assert dictionary().parts("系统") == ()


def test_both_scripts_become_one_word_with_the_greater_frequency() -> None:
    assert build([("軟體", 30), ("软体", 4), ("没有", 0)]) == {"软体": 30}


def test_what_is_called_something_is_a_word_of_its_own() -> None:
    assert build([("狗叫", 40), ("尖叫", 3)]) == {"尖叫": 3}


def test_a_place_is_a_word_without_its_rank() -> None:
    assert "高雄" in dictionary()
    assert build([("高雄市", 31), ("县市", 5)]) == {"高雄市": 31, "高雄": 31, "县市": 5}


def test_a_beginning_of_a_word_is_no_word() -> None:
    words = Dictionary([("研究生院", 5)])
    assert "研究生院" in words
    assert "研究生" not in words
    assert words.parts("研究生院") == ()


@pytest.fixture
def little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package folder with a dictionary of three words."""
    source = tmp_path / "package" / "model.large.json"
    source.parent.mkdir()
    source.write_text('{"freq": {"研究": 10, "研究生": 5, "生命": 8, "研": 0}}', "utf-8")
    monkeypatch.setattr(segmentation, "source", lambda: source)
    return tmp_path


def test_compact_form_is_written_once_and_read_back(little: Path) -> None:
    folder = little / "cache"
    built = load([folder])
    (compact,) = folder.iterdir()
    before = compact.stat().st_mtime_ns
    again = load([folder])
    assert len(again) == len(built) == 5  # with two cities
    assert again.cut("研究生命") == built.cut("研究生命")
    assert compact.stat().st_mtime_ns == before
    assert built.cut("研究生命") == ["研究", "生命"]


def test_a_broken_compact_form_is_written_again(little: Path) -> None:
    folder = little / "cache"
    words = len(load([folder]))
    (compact,) = folder.iterdir()
    compact.write_text("half a", "utf-8")
    assert len(load([folder])) == words
    assert len(load([folder])) == words
    assert compact.read_text("utf-8") != "half a"


def test_a_changed_dictionary_is_not_read_from_the_old_compact_form(little: Path) -> None:
    load([little / "cache"])
    (little / "package" / "model.large.json").write_text('{"freq": {"生命": 8, "人生": 10}}', "utf-8")
    assert "研究" not in load([little / "cache"])


def test_folders_that_cannot_be_written_do_not_matter(little: Path) -> None:
    blocked = little / "file"
    blocked.write_text("not a folder", "utf-8")
    assert "研究" in load([blocked / "cache"])
    assert "研究" in load([blocked / "cache", little / "second"])
    assert len(list((little / "second").iterdir())) == 1


@examples
def test_traditional_folds_to_simplified(traditional: str, simplified: str) -> None:
    assert to_simplified(traditional) == simplified
    assert to_simplified(simplified) == simplified


@given(st.text())
def test_folding_keeps_length_and_is_idempotent(text: str) -> None:
    folded = to_simplified(text)
    assert len(folded) == len(text)
    assert to_simplified(folded) == folded


@examples
def test_cjk_is_seen(text: str, expected: bool) -> None:
    assert has_cjk(text) is expected
