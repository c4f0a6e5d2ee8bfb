"""A long command reports its progress on a terminal and elsewhere."""

from io import StringIO

import pytest
from rich.console import Console

from deploy.progress import Progress


def test_plain_lines_where_there_is_no_terminal() -> None:
    told = StringIO()
    with Progress("turns", console=Console(file=told, width=20), every_s=0.0) as progress:
        progress(500, 2000)
        progress(1000, 2000)
    lines = told.getvalue().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["500 turns", "1"]
    assert "50 % of 2,000" in lines[1]
    assert "\x1b" not in told.getvalue()


def test_no_more_lines_than_wanted_and_one_for_each_part() -> None:
    told = StringIO()
    with Progress("events", console=Console(file=told), every_s=3600.0) as progress:
        for part in ("folding", "indexing"):
            for done in range(100):
                progress(done, 100, doing=part)
    lines = told.getvalue().splitlines()
    assert [line.partition(":")[0] for line in lines] == ["folding", "indexing"]
    assert all("0 events, 0/s" in line for line in lines)  # no rate before there is one


def test_a_bar_on_a_terminal_that_is_gone_afterwards_even_after_an_error() -> None:
    told = StringIO()
    terminal = Console(file=told, force_terminal=True, width=120)

    def half() -> None:
        with Progress("bytes", console=terminal) as progress:
            progress(512, 1024)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    text = told.getvalue()
    assert "50%" in text
    assert "0.5/1.0 kB" in text
    assert text.endswith("\x1b[2K")  # the line of the bar is wiped
