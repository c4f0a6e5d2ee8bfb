"""Derives the table of traditional and simplified characters from OpenCC's dictionaries (Apache-2.0).

``python -m scripts.chinese_script`` writes ``events/language/chinese_script.txt``. The dependency group ``dev`` has
OpenCC. Run time reads only the table.
"""

from pathlib import Path

from opencc import OpenCC

from events.language import chinese_script

_IDEOGRAPH_RANGES = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x32000))

# Pairs that OpenCC's phrase dictionary decides. A comparison needs one form of each, so the table adds them.
_SUPPLEMENT = {"著": "着", "妳": "你", "祢": "你", "牠": "它", "佔": "占", "纔": "才", "祂": "它"}


def table() -> str:
    """Returns the contents of ``chinese_script.txt`` from the installed OpenCC: 48 pairs of characters per line."""
    convert = OpenCC("t2s").convert
    found: dict[str, str] = {}
    for first, last in _IDEOGRAPH_RANGES:
        for character in map(chr, range(first, last)):
            simplified = convert(character)
            if simplified != character and len(simplified) == 1:
                found[character] = simplified
    found.update(_SUPPLEMENT)
    # A simplified form may be the traditional form of another character. Folding must be idempotent.
    pairs = [a + found.get(b, b) for a, b in sorted(found.items())]
    head = (
        "# Traditional and simplified characters in pairs. Derived from OpenCC (Apache-2.0) by "
        "scripts.chinese_script.\n"
    )
    return head + "".join("".join(pairs[i : i + 48]) + "\n" for i in range(0, len(pairs), 48))


if __name__ == "__main__":
    Path(chinese_script.__file__).with_suffix(".txt").write_text(table(), "utf-8")
