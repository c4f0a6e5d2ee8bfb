"""Prepares the pages of the documentation site in ``build/docs``. ``make docs`` then builds the site from them.

The site holds README.md, CONTRIBUTING.md, CHANGELOG.md, ``docs/``, ``examples/`` and the API reference.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from os.path import relpath
from pathlib import Path

from deploy.check_liveness import PORTS
from scripts import api_reference

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "docs"

_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_FOLDERS = {"docs": ".", "examples": "examples"}
_LINK = re.compile(r"!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)")
_FENCE = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)[^\S\n]*$", re.M | re.S)


Places = dict[Path, Path]


class BrokenLinkError(ValueError):
    """A page links to a file that does not exist. The message has one line for each such link."""


def prepare(root: Path = ROOT, target: Path = TARGET) -> int:
    """Writes every page of the site to ``target`` and returns the number of pages.

    A link between two pages stays a link. A link to another file of the repository becomes plain text, because
    the site does not hold that file. Raises :class:`BrokenLinkError`: a link names a file that does not exist.
    """
    places = dict(_places(root))
    if broken := [line for source in places for line in _broken(root, source, places)]:
        raise BrokenLinkError("\n".join(broken))
    shutil.rmtree(target, ignore_errors=True)
    for source, place in places.items():
        (target / place).parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            (target / place).write_text(_rewritten(root, source, places), "utf-8")
        else:
            shutil.copyfile(root / source, target / place)
    (target / "api").mkdir(exist_ok=True)
    for name, document in api_reference.documents().items():
        (target / "api" / f"{name}.md").write_text(api_reference.page(document, PORTS[name]), "utf-8")
    return len(list(target.rglob("*.md")))


def _places(root: Path) -> Iterator[tuple[Path, Path]]:
    """Yields each file of the site and its place there, both relative."""
    for source, place in _PAGES.items():
        if (root / source).exists():
            yield Path(source), Path(place)
    for folder, place in _FOLDERS.items():
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path.relative_to(root), Path(place) / path.relative_to(root / folder)


def _broken(root: Path, source: Path, places: Places) -> Iterator[str]:
    if source.suffix != ".md":
        return
    text = _FENCE.sub("", (root / source).read_text("utf-8"))
    for target in (match["target"] for match in _LINK.finditer(text)):
        if not _is_external(target) and _destination(root, source, target, places) is None:
            yield f"{source}: {target} does not exist"


def _rewritten(root: Path, source: Path, places: Places) -> str:
    text = (root / source).read_text("utf-8")
    link = partial(_site_link, root, source, places)
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(link, text[end : fence.start()]), fence.group()]
        end = fence.end()
    return "".join((*parts, _LINK.sub(link, text[end:])))


def _site_link(root: Path, source: Path, places: Places, match: re.Match[str]) -> str:
    target = match["target"]
    if _is_external(target):
        return match.group()
    found = _destination(root, source, target, places)
    if found is None or found.is_absolute():
        return match["text"]
    start = match.group()[: match.start("target") - match.start()]
    anchor = target.partition("#")[1:]
    return f"{start}{relpath(found, places[source].parent)}{''.join(anchor)})"


def _destination(root: Path, source: Path, target: str, places: Places) -> Path | None:
    """Returns the place on the site, relative; the absolute path of a file beside the site; or None."""
    path = target.partition("#")[0]
    if not path:
        return places[source]
    wanted = (root / source.parent / path).resolve()
    if not wanted.is_relative_to(root):
        return None
    inside = wanted.relative_to(root)
    for candidate in (inside, inside / "README.md"):
        if candidate in places:
            return places[candidate]
    return wanted if wanted.exists() else None


def _is_external(target: str) -> bool:
    return "://" in target or target.startswith("mailto:")


def main() -> int:
    try:
        count = prepare()
    except BrokenLinkError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{count} pages in {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
