"""The table of Chinese characters is the one that OpenCC gives."""

from pathlib import Path

from events.language import chinese_script
from scripts.chinese_script import table


def test_the_shipped_table_is_the_one_opencc_gives() -> None:
    assert Path(chinese_script.__file__).with_suffix(".txt").read_text("utf-8") == table()
