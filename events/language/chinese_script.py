"""Traditional and simplified Chinese as one script, character by character.

The table beside this module is derived from OpenCC's dictionaries (Apache-2.0) by :func:`derive_table`;
``python -m events.language.chinese_script`` prints it anew. Only one-to-one characters are in it, so a folded text has
the length of the text and offsets found in one hold in the other.
"""

from __future__ import annotations

import re
from importlib import resources

_IDEOGRAPH_RANGES = (
    (0x3400, 0x4DC0),
    (0x4E00, 0xA000),
    (0xF900, 0xFB00),
    (0x20000, 0x32000),
)

# Pairs a phrase dictionary decides and a character table cannot; folding for comparison needs one class each.
_SUPPLEMENT = {"著": "着", "妳": "你", "祢": "你", "牠": "它", "佔": "占", "纔": "才", "祂": "它"}

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
    # Identity entries spare str.translate a raised and swallowed KeyError for each unchanged character:
    # a third faster on running text.
    table = {point: point for point in range(0x4E00, 0xA000)}
    table.update({point: point for point in range(0x80)})
    table.update({point: point for point in range(0x3000, 0x3040)})
    table.update({point: point for point in range(0xFF00, 0xFF60)})
    table.update(zip(map(ord, pairs[::2]), map(ord, pairs[1::2]), strict=True))
    return table


_TABLE = _load()


def to_simplified(text: str) -> str:
    """``text`` with traditional characters in their simplified form; same length, never fails, idempotent."""
    return text if text.isascii() else text.translate(_TABLE)


def has_cjk(text: str) -> bool:
    """Whether any character is Chinese, Japanese or Korean script."""
    return not text.isascii() and _CJK.search(text) is not None


def derive_table() -> str:
    """The contents of ``script.txt``, from the installed OpenCC: pairs of characters, 48 a line."""
    from opencc import OpenCC  # noqa: PLC0415 - a build step, not a run-time need

    convert = OpenCC("t2s").convert
    table: dict[str, str] = {}
    for first, last in _IDEOGRAPH_RANGES:
        for character in map(chr, range(first, last)):
            simplified = convert(character)
            if simplified != character and len(simplified) == 1:
                table[character] = simplified
    table.update(_SUPPLEMENT)
    # A simplified form may itself be a traditional one of another; folding twice must change nothing.
    pairs = [a + table.get(b, b) for a, b in sorted(table.items())]
    head = (
        "# Traditional and simplified characters in pairs. Derived from OpenCC (Apache-2.0) by "
        "events.language.chinese_script.\n"
    )
    return head + "".join("".join(pairs[i : i + 48]) + "\n" for i in range(0, len(pairs), 48))


if __name__ == "__main__":
    print(derive_table(), end="")
