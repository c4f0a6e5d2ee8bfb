"""What the build of the explorer needs of this repository, and the proof that the built files match their sources.

    python -m scripts.explorer documents    # writes the OpenAPI documents for the generator of the types
    python -m scripts.explorer stamp        # writes the digest of the sources beside the built files

The digest covers the sources of the app, and of the OpenAPI documents the operations that the app calls with everything
they refer to, without prose. A changed contract of a used operation asks for a build; any other change does not.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from events.types.json_values import JsonObject
from scripts import api_reference

EXPLORER = Path(__file__).parents[1] / "retrieval" / "explorer"
APP = EXPLORER / "app"
STAMP = EXPLORER / "built" / "sources.sha256"
_CALLED = re.compile(r'"(/v1/[^"]*)"')
_PROSE = frozenset(("description", "summary", "examples", "title"))


def sources() -> list[Path]:
    """Returns the files that the build reads, but not the types, which it makes of the OpenAPI documents."""
    kept = (*APP.glob("*.json"), *APP.glob("*.ts"), *APP.glob("*.html"), *(APP / "src").glob("*"))
    return sorted(each for each in kept if each.is_file() and each.name not in ("read.json", "write.json"))


def digest() -> str:
    """Returns the digest of the sources and of the contract that they use."""
    sha = hashlib.sha256()
    called: set[str] = set()
    for path in sources():
        content = path.read_bytes()
        sha.update(f"{path.relative_to(APP)} {len(content)}\n".encode() + content)
        if path.suffix in (".ts", ".tsx"):
            called.update(_CALLED.findall(content.decode()))
    for name, document in sorted(api_reference.documents().items()):
        sha.update(json.dumps([name, list(_contract(document, called))], sort_keys=True).encode())
    return sha.hexdigest()


def _contract(document: JsonObject, called: set[str]) -> Iterator[object]:
    """Yields the operations at ``called`` paths, and every schema that they refer to, without prose."""
    waiting: list[object] = [
        {path: document["paths"][path]} for path in sorted(called & set(document["paths"]))
    ]
    seen: set[str] = set()
    while waiting:
        part = _bare(waiting.pop(0))
        yield part
        for name in re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(part)):
            if name not in seen:
                seen.add(name)
                waiting.append({name: document["components"]["schemas"][name]})


def _bare(value: object) -> object:
    if isinstance(value, dict):
        return {
            name: _bare(each)
            for name, each in value.items()
            if not (name in _PROSE and isinstance(each, str | list))
        }
    return [_bare(each) for each in value] if isinstance(value, list) else value


def main() -> None:
    """Does what the first argument names."""
    if sys.argv[1:] == ["documents"]:
        for name, document in api_reference.documents().items():
            (APP / f"{name}.json").write_text(json.dumps(document), "utf-8")
    elif sys.argv[1:] == ["stamp"]:
        STAMP.write_text(f"{digest()}\n", "utf-8")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
