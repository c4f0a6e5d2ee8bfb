"""Keeps the table of ``docs/decisions/README.md`` equal to the decision records. ``make docs`` runs this."""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from scripts.docs_site import ROOT

FOLDER = ROOT / "docs" / "decisions"

_ROW = re.compile(
    r"^\| \[(?P<number>\d{4})\]\([^)]+\) \| .* \| (?P<status>[^|]+) \| (?P<date>[-\d]{10}) \|\n", re.M
)
_TITLE = re.compile(r"# \d+\. (?P<title>.+)")
_STATUS = re.compile(r"^\*\*Status\b\W*(?P<status>.+?)\.?$", re.M)


def refreshed(folder: Path = FOLDER) -> str:
    """Returns the index with one row for every record: number, title, status, date.

    Title and status come from the record. A record without a status keeps the status of its row, and a new one is
    accepted. The date stays; a new row gets today's date. Raises ``ValueError``: a record has no numbered title.
    """
    index = (folder / "README.md").read_text("utf-8")
    known = {row["number"]: row for row in _ROW.finditer(index)}
    rows = []
    for record in sorted(folder.glob("[0-9]*.md")):
        number, text = record.name[:4], record.read_text("utf-8")
        title = _TITLE.match(text)
        if title is None:
            raise ValueError(f"{record.name} does not begin with a title: write '# {int(number)}. Title'")
        row, status = known.get(number), _STATUS.search(text)
        said = status["status"][0].lower() + status["status"][1:] if status else None
        date = row["date"] if row else f"{datetime.now(UTC):%Y-%m-%d}"
        columns = (
            f"[{number}]({record.name})",
            title["title"],
            said or (row["status"] if row else "accepted"),
            date,
        )
        rows.append(f"| {' | '.join(columns)} |\n")
    head, rule, table = index.partition("|---|---|---|---|\n")
    return head + rule + "".join(rows) + _ROW.sub("", table)


def main() -> int:
    (FOLDER / "README.md").write_text(refreshed(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
