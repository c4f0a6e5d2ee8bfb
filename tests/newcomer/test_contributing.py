"""The steps of CONTRIBUTING.md work as written, each section in a copy of the checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.stack import clean_environment

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
_BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_WRITTEN = re.compile(r"(Write|Append)\b[^`]*`(\S+)`")


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def follow(folder: Path, heading: str) -> str:
    """Follows the steps of a section in ``folder``, and returns the output of its commands.

    The first path of a step that begins with "Write" or "Append" gets the block below it. A diff changes the one place
    that its lines without a plus show. The commands run one after the other, and each has to succeed.
    """
    said, steps, done = [], section(heading), 0
    for block in _BLOCK.finditer(steps):
        language, body = block[2], dedent(block[3])
        prose, done = steps[done : block.start()], block.end()
        if language == "sh":
            said.append(_run(folder, body))
        elif language == "diff":
            for change in re.split(r"^--- ", body, flags=re.MULTILINE)[1:]:
                path, _, lines = change.partition("\n")
                _change(folder / path, lines.splitlines())
        else:
            [(verb, path)] = _WRITTEN.findall(prose)[:1]
            file = folder / path
            assert file.exists() == (verb == "Append"), path
            file.write_text((file.read_text("utf-8") if verb == "Append" else "") + body, "utf-8")
    return "".join(said)


def _change(file: Path, lines: list[str]) -> None:
    before = "".join(f"{line[1:]}\n" for line in lines if line[0] in " -")
    after = "".join(f"{line[1:]}\n" for line in lines if line[0] in " +")
    text = "\n" + file.read_text("utf-8")
    assert text.count(f"\n{before}") == 1, f"{file.name} has this place once:\n{before}"
    file.write_text(text.replace(f"\n{before}", f"\n{after}")[1:], "utf-8")


def _run(folder: Path, script: str) -> str:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True, check=False,
        timeout=540, env=clean_environment() | {"PATH": path, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, f"{script}\n{done.stdout[-5000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("Add an event type", "passed"),
        ("Add a channel", "passed"),
        ("Add a concept key", "commute ('commute',)"),
        ("Add a setting", "CARDLOG_RECALL_K is '500': use a whole number from 1 to 200"),
        ("Add a metric", "True"),
    ],
)
def test_the_steps_of_a_section_work_as_written(tmp_path: Path, heading: str, shown: str) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    assert shown in follow(tmp_path, heading)


def test_every_file_and_folder_that_the_page_names_exists() -> None:
    named = set(
        re.findall(r"`((?:events|ingest|projectors|retrieval|deploy|tests|docs|scripts)/[\w/.]+)`", PAGE)
    )
    made = {path for _, path in _WRITTEN.findall(PAGE)} | set(re.findall(r"Write a test[^`]*`(\S+)`", PAGE))
    assert len(named) > 20
    assert {path for path in named - made if not (ROOT / path).exists()} == set()
