"""What the scripts make is what is shipped."""

import gzip
import re
from pathlib import Path

from events.language import chinese_script
from retrieval.http.explorer_routes import built
from scripts import explorer
from scripts.chinese_script import table

_MOST_KB = 250


def test_the_built_files_match_their_sources() -> None:
    assert explorer.STAMP.read_text("utf-8").strip() == explorer.digest(), (
        "run make explorer and commit its files"
    )


def test_a_browser_loads_little_and_only_from_here() -> None:
    files = built()
    assert set(files) == {"index.html", "app.js", "app.css"}
    assert sum(len(gzip.compress(each)) for each in files.values()) < _MOST_KB * 1000
    page = files["index.html"].decode()
    assert set(re.findall(r'(?:src|href)="([^"]*)"', page)) == {"./app.js", "./app.css", "data:,"}
    assert "<style" not in page
    assert not re.search(r"<script(?! type=\"module\" crossorigin src)", page)
    assert b"url(" not in files["app.css"]


def test_the_shipped_table_is_the_one_opencc_gives() -> None:
    assert Path(chinese_script.__file__).with_suffix(".txt").read_text("utf-8") == table()
