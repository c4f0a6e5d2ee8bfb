"""Exports of ChatGPT and Claude: the shown path is read, and a broken part stops nothing else."""

import io
import json
import tracemalloc
import zipfile
from typing import Any

import pytest

from ingest.migration.chats.assistants import read
from ingest.migration.chats.message import ChatMessage, LeftOut
from ingest.migration.chats.source import ExportUnreadableError

AT = 1_714_730_400.25  # 2024-05-03T10:00:00.25Z


def node(
    role: str, *parts: Any, parent: str | None = None, children: tuple[str, ...] = (), **more: Any
) -> Any:
    content = {"content_type": "text", "parts": list(parts), **more.pop("content", {})}
    message = {"author": {"role": role}, "content": content, "create_time": AT, **more}
    return {"message": message, "parent": parent, "children": list(children)}


def chatgpt(**mapping: Any) -> dict[str, Any]:
    root = {"message": None, "parent": None, "children": ["a"]}
    return {"id": "c1", "title": "Trips", "create_time": AT - 60, "mapping": {"root": root, **mapping}}


def found(document: object, encoded: bytes | None = None) -> tuple[list[ChatMessage], LeftOut]:
    left_out = LeftOut()
    data = json.dumps(document).encode() if encoded is None else encoded
    return list(read(io.BytesIO(data), left_out, lambda _: None)), left_out


def counts(left_out: LeftOut) -> dict[str, int]:
    return {name: reason.count for name, reason in left_out.reasons.items()}


def test_the_path_that_was_shown_is_read_and_the_others_are_counted() -> None:
    talk = chatgpt(
        a=node("user", "I live in Rome.", parent="root", children=("old", "new")),
        old=node("assistant", "Ciao?", parent="a"),
        new=node("assistant", "Which part?", {"content_type": "image_asset_pointer"}, parent="a", create_time=None),
    )  # fmt: skip
    for current in ("new", None):
        messages, left_out = found([talk | {"current_node": current}])
        assert [(each.text, each.role) for each in messages] == [
            ("I live in Rome.", "user"),
            ("Which part?", "assistant"),
        ]
        assert {each.said_at.timestamp() for each in messages} == {AT}
        assert counts(left_out) == {
            "a message on a path that was not shown last": 1,
            "a part of the type image_asset_pointer": 1,
        }
    assert [each.text for each in found([talk | {"current_node": "old"}])[0]] == ["I live in Rome.", "Ciao?"]


def test_what_nobody_said_is_left_out_by_its_reason() -> None:
    talk = chatgpt(
        a=node("system", "Be brief.", parent="root", children=("b",)),
        b=node("user", "I see.", parent="a", children=("c",), metadata={"is_visually_hidden_from_conversation": True}),
        c=node("assistant", "", parent="b", children=("d",), content={"content_type": "thoughts"}),
        d=node("assistant", "search()", parent="c", children=("e",), recipient="web"),
        e=node("user", " ", {"content_type": "audio_transcription", "text": "Hi there."}, parent="d", children=("f",)),
        f=node("user", "", parent="e", children=("f",)),
    )  # fmt: skip
    messages, left_out = found([talk | {"current_node": "f"}])
    assert [each.text for each in messages] == ["Hi there."]
    assert counts(left_out) == {
        "a message of a tool or of the system": 1,
        "a hidden message": 1,
        "a message of the type thoughts, which is not said to anybody": 1,
        "a message of the type text, which is not said to anybody": 1,
        "a message without words": 1,
    }
    assert not any(reason.broken for reason in left_out.reasons.values())


CLAUDE = {
    "uuid": "k1",
    "name": "Tea",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "created_at": "2024-05-03T10:00:00.5Z", "text": "I drink oolong.",
         "files": [{}]},
        {"uuid": "m2", "sender": "assistant", "created_at": "2024-05-03T10:00:05Z", "text": "Good. [tool]",
         "content": [{"type": "text", "text": "Good."}, {"type": "tool_use", "name": "search"}]},
        {"uuid": "m3", "sender": "human", "created_at": "yesterday", "text": "And you?"},
    ],
}  # fmt: skip


def test_a_conversation_of_claude_is_read_and_a_broken_date_is_named() -> None:
    messages, left_out = found([7, CLAUDE])
    assert [(each.text, each.role, each.session_id) for each in messages] == [
        ("I drink oolong.", "user", "k1"),
        ("Good.", "assistant", "k1"),
    ]
    assert left_out.reasons["a message without a readable date"].places == ["#2/3"]
    assert left_out.reasons["an item that is no conversation"].places == ["#1"]
    assert counts(left_out)["a part of the type tool_use"] == counts(left_out)["an attached file"] == 1


def test_broken_bytes_and_a_torn_end_lose_only_themselves() -> None:
    whole = json.dumps([CLAUDE, CLAUDE], indent=1).encode().replace(b"oolong", b"ool\xffng", 1)
    messages, left_out = found(None, whole[: whole.rindex(b"And")])
    assert [each.text for each in messages] == ["I drink ool\ufffdng.", "Good."]
    [bytes_place] = left_out.reasons["bytes that are not UTF-8 were replaced"].places
    assert bytes_place.startswith("line 10 (byte ")
    [torn] = left_out.reasons["the JSON is broken, and its rest was not read"].places
    assert torn.startswith("after #1 (")
    assert all(
        reason.broken for name, reason in left_out.reasons.items() if "oken" in name or "bytes" in name
    )


def test_lists_that_are_nested_too_deeply_end_the_file_and_take_no_memory() -> None:
    """A file of brackets alone would take a path of its own length for each of them."""
    depth = 5_000
    tracemalloc.start()
    messages, left_out = found(None, json.dumps([CLAUDE])[:-1].encode() + b"," + b"[" * depth + b"]" * depth)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [each.text for each in messages] == ["I drink oolong.", "Good."]
    [cut] = left_out.reasons["the JSON is broken, and its rest was not read"].places
    assert "more than 100 deep" in cut
    assert most < 5_000_000


def test_a_zip_may_hold_the_conversations_in_several_files() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as opened:
        opened.writestr("user.json", "{}")
        for number, session in enumerate(("x", "y")):
            opened.writestr(f"conversations-00{number}.json", json.dumps([CLAUDE | {"uuid": session}]))
    assert {each.session_id for each in found(None, packed.getvalue())[0]} == {"x", "y"}


@pytest.mark.parametrize("data", [b"", b"[]", b'{"mapping": {}}', b"hello", "[]".encode("utf-16")])
def test_a_file_without_a_conversation_is_refused(data: bytes) -> None:
    with pytest.raises(ExportUnreadableError, match=r"give conversations\.json|UTF-16"):
        found(None, data)


def test_a_letter_on_the_border_of_two_reads_is_whole() -> None:
    talk = CLAUDE | {"name": "x" * 65_000, "chat_messages": [
        {"uuid": str(n), "sender": "human", "created_at": "2024-05-03T10:00:00Z", "text": "茶" * 500}
        for n in range(200)
    ]}  # fmt: skip
    messages, left_out = found(None, json.dumps([talk], ensure_ascii=False).encode())
    assert {each.text for each in messages} == {"茶" * 500}
    assert counts(left_out) == {}
