"""The categories of the document: their JSON Schemas, the empty document, and the places that nobody may change."""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

import jsonschema_rs
import orjson

from events.core.patches import OWN_CATEGORY, Op, PatchConflictError, shown
from events.core.pointers import Tokens, join, split, value_at
from events.types.core import Fault
from events.types.json_values import Json, is_deeper

META = "_meta"
EVOLUTION = "schemaEvolution"
DYNAMIC = "dynamicCategories"
UNCATEGORIZED = "uncategorized"
MAX_DOCUMENT_BYTES = 256 * 1024
MAX_DEPTH = 32
_ANY = "*"
_FRAME = "document"


@cache
def schema() -> dict[str, Json]:
    """Returns the JSON Schema (2020-12) of the document without ``_meta``."""
    folder = files("events.core.schemas")
    frame: dict[str, Json] = orjson.loads(folder.joinpath(f"{_FRAME}.json").read_bytes())
    categories = {}
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = each.name.removesuffix(".json")
        if each.name.endswith(".json") and name != _FRAME:
            categories[name] = orjson.loads(each.read_bytes())
    frame["properties"] = categories | frame["properties"]
    return frame


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema(), offline=True)


@lru_cache(maxsize=256)
def _validator_of(schema_text: bytes) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(orjson.loads(schema_text), offline=True)


@cache
def empty_document() -> Json:
    """Returns the document of a user of whom nothing is known: every category, and every list of it.

    Documents never change in place, so all users begin with the same one.
    """
    return {name: each.get("default", {}) for name, each in schema()["properties"].items()}


def evolution_log(document: Json) -> list[dict[str, Json]]:
    """Returns ``_meta.schemaEvolution`` of a document as the fold keeps it, the oldest entry first."""
    entries: list[dict[str, object]] = document.get(META, {}).get(EVOLUTION, [])
    return entries


def promoted_schemas(document: Json) -> dict[str, Json]:
    """Returns the JSON Schemas of the promoted categories of a document, by name."""
    found: dict[str, Json] = {}
    for entry in evolution_log(document):
        if entry["change"] == "promoted":
            found[entry["newCategory"]] = entry["schema"]
        elif entry["change"] == "reverted":
            found.pop(entry["newCategory"], None)
    return found


def check_protected(patch: Sequence[Op]) -> list[Op]:
    """Returns ``patch`` without tests of ``_meta``.

    Raises :class:`PatchConflictError` for an operation that changes ``_meta``, the whole document, or another place
    that is read-only.
    """
    kept = []
    for index, op in enumerate(patch):
        pointers = [split(op["path"])]
        if op["op"] == "move":
            pointers.append(split(op["from"]))
        if op["op"] == "test":
            if pointers[0][:1] != (META,):
                kept.append(op)
            continue
        for tokens in pointers:
            if not tokens:
                reason = "the whole document is not replaced; change its parts"
            elif tokens[0] == META:
                reason = f"{META} is kept by the service and read-only"
            elif any(_covers(pattern, tokens) for pattern in _read_only()):
                reason = "this place is kept by the service and read-only"
            else:
                continue
            raise PatchConflictError("protected", index, join(tokens), reason)
        if op["op"] == "copy" and split(op["from"])[:1] == (META,):
            raise PatchConflictError("protected", index, op["from"], f"{META} is not copied")
        kept.append(op)
    return kept


def check_document(document: Json, patch: list[Op]) -> None:
    """Raises :class:`PatchConflictError` for a document that does not fit the schema, or is too large or too deep.

    ``patch`` made the document. Its operation nearest to the place at fault is named.
    """
    if is_deeper(document, MAX_DEPTH):
        raise _blamed("size", patch, (), f"the document would be nested deeper than {MAX_DEPTH} levels")
    size = len(orjson.dumps(document))
    if size > MAX_DOCUMENT_BYTES:
        raise _blamed(
            "size",
            patch,
            (),
            f"the document would be {size} bytes long; at most {MAX_DOCUMENT_BYTES} are allowed",
        )
    if META not in document:
        _check_part(_validator(), document, document, (), patch)
        return
    promoted = promoted_schemas(document)
    fixed = {name: each for name, each in document.items() if name != META and name not in promoted}
    _check_part(_validator(), fixed, document, (), patch)
    for name, inferred in promoted.items():
        if name in document:
            validator = _validator_of(orjson.dumps(inferred, option=orjson.OPT_SORT_KEYS))
            _check_part(validator, document[name], document, (name,), patch)


def _check_part(
    validator: jsonschema_rs.Draft202012Validator, part: Json, document: Json, at: Tokens, patch: list[Op]
) -> None:
    if validator.is_valid(part):
        return
    fault = next(iter(validator.iter_errors(part)))
    place = (*at, *(str(part) for part in fault.instance_path))
    found = value_at(document, place)
    reason = str(fault.message)[:300]
    if not place:
        reason += f"; {OWN_CATEGORY}"
    raise _blamed("schema", patch, place, reason, actual=shown(found))


def _blamed(
    fault: Fault, patch: list[Op], place: Tokens, reason: str, actual: Json = None
) -> PatchConflictError:
    best, length = 0, -1
    for index, op in enumerate(patch):
        tokens = split(op["path"])
        common = next(
            (number for number, pair in enumerate(zip(tokens, place, strict=False)) if pair[0] != pair[1]),
            min(len(tokens), len(place)),
        )
        if op["op"] != "test" and common >= length:
            best, length = index, common
    return PatchConflictError(fault, best, join(place), reason, actual=actual)


def _covers(pattern: Tokens, tokens: Tokens) -> bool:
    """True when a change at ``tokens`` changes the place of ``pattern`` itself, or a part of it."""
    return len(tokens) >= len(pattern) and all(
        part in (_ANY, token) for part, token in zip(pattern, tokens, strict=False)
    )


@cache
def _read_only() -> tuple[Tokens, ...]:
    """The pointers of the places that the schemas mark ``readOnly``."""
    whole = schema()
    found: list[Tokens] = []

    def look(part: Json, at: Tokens) -> None:
        if not isinstance(part, dict):
            return
        if "$ref" in part:
            part = whole["$defs"][part["$ref"].rpartition("/")[2]]
        if part.get("readOnly"):
            found.append(at)
        for name, each in part.get("properties", {}).items():
            look(each, (*at, name))
        look(part.get("additionalProperties"), (*at, _ANY))

    look(whole, ())
    return tuple(found)
