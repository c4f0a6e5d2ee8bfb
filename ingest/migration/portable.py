"""Memories in the forms of other systems: PAM (Portable AI Memory 1.0), and OKF (a folder of Markdown).

A memory becomes a turn that carries the mark of its source. The fields of PAM stay in the turn's metadata, so an export
gives the same memory again.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

import orjson
import yaml

from events.types.json_values import Json, JsonObject
from events.types.metadata import MetadataInvalidError, metadata_text
from events.types.migrations import Migrated
from ingest.migration.chats.message import ChatMessage, LeftOut, digest_of, iso_time
from ingest.migration.chats.source import Utf8, items_of

PAM = "pam"
"""The member of a turn's metadata that holds the fields of a memory besides its content."""
TYPES = (
    "fact", "preference", "skill", "context", "relationship", "goal", "instruction", "identity", "environment",
    "project", "custom",
)  # fmt: skip
_STATUSES = ("active", "superseded", "deprecated", "archived")
_TIMES = ("created_at", "updated_at", "valid_from", "valid_until")
_PLATFORM = re.compile(r"[a-z0-9_-]{2,32}")
_TAG = re.compile(r"[a-z0-9][a-z0-9_-]*")
_FRONT = re.compile(r"\A---\r?\n(.*?)^---[ \t]*\r?\n?(.*)\Z", re.DOTALL | re.MULTILINE)
_RESERVED = ("index.md", "log.md")
_LARGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Found:
    place: str
    content: str
    kept: dict[str, Json]
    said_at: datetime


def read_pam(file: IO[bytes], left_out: LeftOut) -> Iterator[ChatMessage]:
    """Yields the memories of a memory store of PAM. Its relations, and memories that were taken back, are counted."""
    if file.seekable():
        for place, _ in items_of(Utf8(file, LeftOut()), "relations.item", LeftOut()):
            left_out.add("a relation", f"relations{place}")
        file.seek(0)
    for place, item in items_of(Utf8(file, left_out), "memories.item", left_out):
        memory = item if isinstance(item, dict) else {}
        content, status = memory.get("content"), memory.get("status", "active")
        if status == "retracted":
            left_out.add("a memory that was taken back", place)
        elif not isinstance(content, str) or not content.strip() or not isinstance(memory.get("id"), str):
            left_out.add("a memory without an id or a content", place, broken=True)
        elif memory.get("content_hash") not in (None, content_hash(content)):
            left_out.add("a memory whose content_hash is another", place, broken=True)
        elif status not in _STATUSES or memory.get("type") not in TYPES:
            left_out.add("a memory with an unknown type or status", place, broken=True)
        elif (found := _of_pam(memory, content, place)) is None:
            left_out.add("a memory without a readable date", place, broken=True)
        else:
            yield _message(found, left_out)


def read_okf(folder: Path, left_out: LeftOut) -> Iterator[ChatMessage]:
    """Yields the concepts of a folder of OKF: every Markdown file besides the reserved ones, in order.

    A file without a date has the date of its last change. Links between files stay words of the content.
    """
    for path in sorted(folder.rglob("*.md")):
        place = str(path.relative_to(folder))
        if path.name in _RESERVED:
            continue
        if not (path.is_file() and path.resolve().is_relative_to(folder.resolve())):
            left_out.add("no file of this folder: a link that leaves it, or a device", place)
            continue
        try:
            data = path.read_bytes() if path.stat().st_size <= _LARGEST else b""
            parts = _FRONT.match(data.decode("utf-8-sig"))
            front = yaml.safe_load(parts[1]) if parts else None
        except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError, RecursionError) as error:
            left_out.add("a file that cannot be read", f"{place} ({type(error).__name__})", broken=True)
            continue
        if parts is None or not isinstance(front, dict) or not front.get("type"):
            left_out.add("a file without front matter with a type", place, broken=True)
        elif not parts[2].strip():
            left_out.add("a file without words", place)
        else:
            yield _message(_of_okf(front, parts[2].strip(), path, place), left_out)


def content_hash(content: str) -> str:
    """Returns the hash of PAM for a content: SHA-256 of its words in lower case with single spaces."""
    words = re.sub(r"\s+", " ", unicodedata.normalize("NFC", content.strip().lower()))
    return f"sha256:{hashlib.sha256(words.encode()).hexdigest()}"


def checksum(memories: list[dict[str, Json]]) -> str:
    """Returns the checksum of PAM over memories: SHA-256 of their canonical JSON (RFC 8785), in order of their ids."""
    canonical = orjson.dumps(
        _whole(sorted(memories, key=lambda each: str(each["id"]))), option=orjson.OPT_SORT_KEYS
    )
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def instant_text(instant: datetime) -> str:
    """Returns an instant in the one form that the checksum of PAM knows."""
    return instant.isoformat().replace("+00:00", "Z")


def tags_of(tags: object) -> list[str]:
    """Returns the tags that PAM can say: Latin letters in lower case, digits, dashes."""
    several = [str(each).lower().replace(" ", "-") for each in tags] if isinstance(tags, list) else []
    return [each for each in dict.fromkeys(several) if _TAG.fullmatch(each)]


def _of_pam(memory: JsonObject, content: str, place: str) -> _Found | None:
    told = memory.get("temporal")
    times = {name: iso_time(told.get(name)) for name in _TIMES} if isinstance(told, dict) else {}
    created = times.get("created_at")
    if created is None:
        return None
    temporal = {name: instant_text(each) for name, each in times.items() if each is not None}
    if isinstance(told, dict) and isinstance(told.get("superseded_by"), str):
        temporal["superseded_by"] = told["superseded_by"]
    source = memory.get("provenance")
    source = source if isinstance(source, dict) else {}
    platform = source.get("platform")
    provenance = {
        "platform": platform if isinstance(platform, str) and _PLATFORM.fullmatch(platform) else "unknown"
    }
    for name in ("platform_user_id", "conversation_ref", "message_ref"):
        if isinstance(source.get(name), str):
            provenance[name] = source[name]
    kept: dict[str, Json] = {
        "id": memory["id"],
        "type": memory["type"],
        "status": memory.get("status", "active"),
        "tags": tags_of(memory.get("tags")),
        "temporal": temporal,
        "provenance": provenance,
    }
    if memory["type"] == "custom":
        kept["custom_type"] = str(memory.get("custom_type") or "memory")
    for name, kind in (("summary", str), ("metadata", dict)):
        if isinstance(memory.get(name), kind):
            kept[name] = memory[name]
    sure = memory.get("confidence")
    numbers = {name: sure.get(name) for name in ("initial", "current")} if isinstance(sure, dict) else {}
    if valid := {
        name: each for name, each in numbers.items() if isinstance(each, int | float) and 0 <= each <= 1
    }:
        kept["confidence"] = valid
    return _Found(place, content, kept, times.get("valid_from") or created)


def _of_okf(front: JsonObject, content: str, path: Path, place: str) -> _Found:
    given = front.get("timestamp", front.get("date"))
    said_at = iso_time(given.isoformat() if hasattr(given, "isoformat") else given)
    said_at = said_at or datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    kind = str(front["type"]).lower()
    known = kind in TYPES and kind != "custom"
    kept: dict[str, Json] = {
        "id": str(front.get("id") or place.removesuffix(".md")),
        "type": kind if known else "custom",
        "status": "active",
        "tags": tags_of(front.get("tags")),
        "temporal": {"created_at": instant_text(said_at), "valid_from": instant_text(said_at)},
        "provenance": {"platform": "okf"},
    }
    if not known:
        kept["custom_type"] = str(front["type"])
    if isinstance(front.get("title"), str):
        kept["summary"] = front["title"]
    return _Found(place, content, kept, said_at)


def _message(found: _Found, left_out: LeftOut) -> ChatMessage:
    platform = str(found.kept["provenance"]["platform"])
    mark = Migrated(source=platform).metadata()
    kept = found.kept
    try:
        metadata_text({**mark, PAM: kept})
    except MetadataInvalidError:
        # The fields that PAM requires are small. The others are those of other programs.
        left_out.add("a summary, tags and metadata that are too large", found.place)
        kept = {name: value for name, value in kept.items() if name not in ("summary", "metadata", "tags")}
        kept["tags"] = []
    return ChatMessage(
        source=PAM,
        session_id=platform,
        message_id=digest_of(str(found.kept["id"])),
        text=found.content,
        said_at=found.said_at,
        place=found.place,
        metadata={**mark, PAM: kept},
    )


def _whole(value: Json) -> Json:
    """Returns ``value`` with whole numbers without a fraction, as RFC 8785 writes them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return {name: _whole(each) for name, each in value.items()} if isinstance(value, dict) else value
