"""Traditional and simplified Chinese as one script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.script import derive_table, fold_script, has_cjk


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("我上個月從台北搬到台中", "我上个月从台北搬到台中"),
        ("資料庫與電腦", "资料库与电脑"),
        ("臺灣", "台湾"),
        ("住著", "住着"),
        ("abc 123", "abc 123"),
    ],
)
def test_traditional_folds_to_simplified(traditional: str, simplified: str) -> None:
    assert fold_script(traditional) == simplified
    assert fold_script(simplified) == simplified


@given(st.text())
def test_folding_keeps_length_and_is_idempotent(text: str) -> None:
    folded = fold_script(text)
    assert len(folded) == len(text)
    assert fold_script(folded) == folded


def test_the_shipped_table_is_the_one_opencc_gives() -> None:
    pairs = "".join(line for line in derive_table().splitlines() if not line.startswith("#"))
    assert all(fold_script(a) == b for a, b in zip(pairs[::2], pairs[1::2], strict=True))
    assert len(pairs) > 8000


@pytest.mark.parametrize(
    ("text", "expected"),
    [("hello", False), ("héllo — ok", False), ("你", True), ("かな", True), ("한", True), ("", False)],
)
def test_cjk_is_seen(text: str, expected: bool) -> None:
    assert has_cjk(text) is expected
