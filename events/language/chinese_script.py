"""Folds traditional Chinese into simplified Chinese, character by character.

The table ``chinese_script.txt`` (:mod:`scripts.chinese_script`) has only one-to-one characters. A folded text therefore
has the length of the original, and offsets are the same in both.
"""

import re
from importlib import resources

_CJK = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f]"
)


def _load() -> dict[int, int]:
    lines = (
        resources.files("events.language")
        .joinpath("chinese_script.txt")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    pairs = "".join(line for line in lines if not line.startswith("#"))
    # Without an identity entry str.translate raises and swallows a KeyError for each unchanged character. The entries
    # make it a third faster on running text.
    table = {point: point for point in range(0x4E00, 0xA000)}
    table.update({point: point for point in range(0x80)})
    table.update({point: point for point in range(0x3000, 0x3040)})
    table.update({point: point for point in range(0xFF00, 0xFF60)})
    table.update(zip(map(ord, pairs[::2]), map(ord, pairs[1::2]), strict=True))
    return table


_TABLE = _load()


def to_simplified(text: str) -> str:
    """Returns ``text`` with simplified characters. Guarantees the same length; never raises; is idempotent."""
    return text if text.isascii() else text.translate(_TABLE)


_CANTONESE = str.maketrans("喺嘅咗冇唔啲佢", "在的了没不些他")


def from_cantonese(text: str) -> str:
    """Returns simplified ``text`` with the words of written Cantonese that Mandarin writes with another character.

    Guarantees the same length.
    """
    return text.translate(_CANTONESE)


def has_cjk(text: str) -> bool:
    """True when a character of ``text`` is Chinese, Japanese or Korean."""
    return not text.isascii() and _CJK.search(text) is not None
