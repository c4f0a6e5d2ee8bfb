"""Traditional and simplified Chinese as one script."""

from hypothesis import given
from hypothesis import strategies as st

from events.language.chinese_script import has_cjk, to_simplified
from tests.support.tables import examples


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
