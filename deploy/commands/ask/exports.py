"""``cardlog export``: gives the memory of a user in the forms of other systems, read through the client."""

import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import orjson
import yaml
from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.verbs import every
from deploy.options import Answer, File, Flat, Given, OfUser
from deploy.security.private_files import writing, written_privately
from events.platform.counting import counted
from events.types.json_values import Json
from ingest.migration.portable import PAM, checksum, content_hash, instant_text, tags_of

app = App(
    name="export", help="Export the memory of a user for other systems: PAM, or a folder of Markdown (OKF)."
)

_KINDS = {"state": ("fact", None), "event": ("custom", "event"), "knowledge": ("custom", "knowledge")}
_MARKS = re.compile(r"[\\`*_~&<>\[\]]")
"""The characters that have a meaning in the text of a link of Markdown."""
_STATUSES = {"superseded": "superseded", "retracted": "retracted"}


@app.command(name="pam")
def run_pam(
    file: Annotated[File, Parameter(help="the file to write, or - for standard output")],
    /,
    *,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    """Write the memory of a user as a memory store of PAM 1.0 (Portable AI Memory).

    Memories that were imported from PAM or OKF are as they were; the facts that rest on them are not repeated.
    """
    memories = list(_memories(client, options.user))
    relations = _relations(memories)
    document = {
        "schema": "portable-ai-memory",
        "schema_version": "1.0",
        "export_id": str(uuid.uuid4()),
        "exported_by": f"cardlog/{version('cardlog')}",
        "export_date": instant_text(datetime.now(UTC)),
        "owner": {"id": options.user},
        "memories": memories,
        "relations": relations,
        "integrity": {
            "canonicalization": "RFC8785",
            "checksum": checksum(memories),
            "total_memories": len(memories),
        },
        "export_type": "full",
    }
    with writing(file) as out:
        out.write(orjson.dumps(document, option=orjson.OPT_INDENT_2))
    return Answer(
        {"memories": len(memories)}, [] if file == "-" else [f"memories written: {len(memories):,}"]
    )


@app.command(name="okf")
def run_okf(
    folder: Annotated[Path, Parameter(help="the folder to write; it must not hold other files")],
    /,
    *,
    options: Flat[OfUser],
    client: Given[Client],
) -> Answer:
    """Write the memory of a user as a folder of Markdown with front matter (Open Knowledge Format 0.2).

    Each memory is a file. Only what is true now is written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise RuntimeError(f"{folder} holds files; name a new or an empty folder")
    lines = []
    for memory in _memories(client, options.user):
        if memory["status"] != "active":
            continue
        kind = memory.get("custom_type") or memory["type"]
        front = {
            "type": kind,
            "id": memory["id"],
            "tags": memory["tags"],
            "timestamp": memory["temporal"].get("valid_from") or memory["temporal"]["created_at"],
        }
        if "summary" in memory:
            front["title"] = memory["summary"]
        name = f"{uuid.uuid5(uuid.NAMESPACE_URL, memory['id'])}.md"
        head = yaml.safe_dump(front, allow_unicode=True, sort_keys=False)
        with written_privately(folder / name) as out:
            out.write(f"---\n{head}---\n\n{memory['content']}\n".encode())
        words = _MARKS.sub(r"\\\g<0>", " ".join(memory["content"].split())[:80])
        lines.append(f"- [{words}]({name})")
    with written_privately(folder / "index.md") as out:
        out.write("\n".join(['---\nokf_version: "0.2"\n---\n', "# Memory", "", *lines, ""]).encode())
    return Answer({"memories": len(lines)}, [f"wrote {counted(len(lines), 'file')}"])


def _memories(client: Client, user: str) -> Iterator[dict[str, Json]]:
    """Yields the memories of a user: imported ones as they were, and every card that rests on other turns."""
    cards = every(client.cards, user, "cards", status="*")
    known = {card["card_id"] for card in cards}
    ids: set[str] = set()
    for card in cards:
        imported = (card.get("metadata") or {}).get(PAM)
        if imported is None and not card.get("episode") and card["kind"] in _KINDS:
            yield _memory(card, cards)
        elif imported is not None and card.get("episode") and imported["id"] not in known | ids:
            ids.add(imported["id"])
            content = card["content"]
            yield {**imported, "content": content, "content_hash": content_hash(content)}


def _memory(card: Json, cards: list[Json]) -> dict[str, Json]:
    kind, custom = _KINDS[card["kind"]]
    status = _STATUSES.get(card["status"], "active")
    times = {"created_at": card["said_at"]}
    if card["kind"] == "state":
        times |= {"valid_from": card["effective_at"], "valid_until": card["superseded_at"]}
    temporal = {name: instant_text(datetime.fromisoformat(each)) for name, each in times.items() if each}
    if status == "superseded":
        same = ("entity", "concept_key", "project_id")
        after = [
            each["card_id"] for each in cards
            if each["effective_at"] == card["superseded_at"] and all(each[name] == card[name] for name in same)
        ]  # fmt: skip
        if after:
            temporal["superseded_by"] = after[0]
        else:
            status = "deprecated"  # PAM wants the name of what came instead
    fields = ("entity", "concept_key", "value", "project_id", "occurred_at", "speaker")
    memory: dict[str, Json] = {
        "id": card["card_id"],
        "type": kind,
        "status": status,
        "content": card["content"],
        "content_hash": content_hash(card["content"]),
        "tags": tags_of(card["tags"]),
        "confidence": {"initial": card["confidence"], "current": card["confidence"]},
        "temporal": temporal,
        "provenance": {
            "platform": "cardlog",
            "conversation_ref": card["session_id"],
            "extracted_at": instant_text(datetime.fromisoformat(card["created_at"])),
        },
        "metadata": {name: card[name] for name in fields if card[name] is not None},
    }
    if card["turn_ids"]:
        memory["provenance"]["message_ref"] = card["turn_ids"][0]
    if custom is not None:
        memory["custom_type"] = custom
    return memory


def _relations(memories: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Returns the relations that the memories tell: a later value supersedes an earlier one.

    The name of a later one that is not among them is taken out of its memory.
    """
    ids = {each["id"] for each in memories}
    relations = []
    for each in memories:
        later = each["temporal"].get("superseded_by")
        if later is not None and later not in ids:
            del each["temporal"]["superseded_by"]
        elif later is not None:
            relations.append({
                "id": f"{later}/{each['id']}", "from": later, "to": each["id"], "type": "supersedes",
                "created_at": each["temporal"]["created_at"],
            })  # fmt: skip
    return relations
