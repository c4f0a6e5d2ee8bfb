"""Chats between people: who said what and when, in every form of the exports, with the same ids in a later export."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from ingest.migration.chats.message import ChatMessage, ChatTerms, LeftOut
from ingest.migration.chats.people import read
from ingest.migration.chats.source import ExportUnreadableError
from tests.support.tables import examples

ZONE = ZoneInfo("Europe/Berlin")


def found(data: str | bytes, *me: str, **terms: Any) -> tuple[list[ChatMessage], LeftOut]:
    left_out = LeftOut()
    file = io.BufferedReader(io.BytesIO(data.encode() if isinstance(data, str) else data))
    wanted = ChatTerms(me=me or ("Ada",), **({"zone": ZONE} | terms))
    return list(read(file, wanted, left_out, lambda _: None)), left_out


def shown(messages: list[ChatMessage]) -> list[tuple[str, str, str | None]]:
    return [(each.said_at.isoformat()[:16], each.text, each.speaker) for each in messages]


@examples
def test_each_form_of_whatsapp_gives_the_same_messages(lines: str) -> None:
    messages, left_out = found(lines)
    assert shown(messages) == [("2026-05-13T16:44", "Hi", None), ("2026-06-05T09:01", "Hello\nthere", "Bea")]
    assert [(each.direction, each.contact) for each in messages] == [("outgoing", "Bea"), ("incoming", "Bea")]
    assert {each.said_at.utcoffset() for each in messages} == {
        ZONE.utcoffset(messages[0].said_at.replace(tzinfo=None))
    }
    assert left_out.reasons == {}


def test_an_order_of_dates_that_nothing_tells_is_asked_for() -> None:
    unclear = "[05.06.26, 16:44:10] Ada: Hi\n[07.08.26, 09:01:02] Bea: Hello"
    with pytest.raises(ExportUnreadableError, match=r"fit both orders.*--date-order"):
        found(unclear)
    assert shown(found(unclear, date_order="mdy")[0])[0][0] == "2026-05-06T16:44"
    with pytest.raises(ExportUnreadableError, match="contradict both orders"):
        found("[13.05.26, 1:00:00] Ada: Hi\n[05.13.26, 1:00:00] Ada: Hi")
    never_back = "[01.02.26, 1:00:00] Ada: Hi\n[02.02.26, 1:00:00] Bea: Hi\n[01.03.26, 1:00:00] Bea: Hi"
    assert shown(found(never_back)[0])[-1][0] == "2026-03-01T01:00"


CHAT = Path(__file__).with_name("chat.txt").read_text("utf-8")


def test_a_later_export_has_the_same_ids_and_no_id_holds_words_or_names() -> None:
    messages, left_out = found(CHAT)
    assert [each.text for each in messages] == ["Same", "Same", "See you at: 7"]
    ids = [each.message_id for each in messages]
    assert len(set(ids)) == 3
    later = found(
        CHAT + "14/05/2026, 10:02 - Ada: Ok\n99/99/2026, 10:02 - Ada: Never\n", zone=ZoneInfo("Asia/Taipei")
    )
    assert [each.message_id for each in later[0]][:3] == ids
    turn, odd = (
        each.turn("ada", "default", "UTC", each.said_at)
        for each in (messages[0], replace(messages[0], message_id="a/b"))
    )
    assert turn["turn_id"] == f"whatsapp:{messages[0].session_id}:{ids[0]}"
    assert "/" not in str(odd["turn_id"])
    assert not any(
        word in f"{each.session_id}{each.message_id}" for each in messages for word in ("Bea", "Same")
    )
    assert {name: reason.count for name, reason in left_out.reasons.items()} == {
        "a notice of WhatsApp": 1,
        "a picture, a file or a notice in the place of words": 2,
    }
    assert later[1].reasons["a message without a readable date"].places == ["line 8"]


def test_a_chat_of_several_needs_its_name_and_the_user_is_one_of_the_writers() -> None:
    group = CHAT + "14/05/2026, 10:02 - Cy: Hi\n"
    with pytest.raises(ExportUnreadableError, match="give its name with --chat"):
        found(group)
    messages, _ = found(group, chat="Climbing")
    assert {(each.contact, each.speaker) for each in messages} == {("Climbing", "Bea"), ("Climbing", "Cy")}
    with pytest.raises(ExportUnreadableError, match="give --me with one of 'Bea', 'Ada'"):
        found(CHAT, "Eve")


def telegram(*messages: dict[str, Any]) -> dict[str, Any]:
    usual = {
        "type": "message",
        "date": "2026-05-13T16:44:10",
        "from": "Bea",
        "from_id": "user7",
        "text": "Hi",
    }
    several = [usual | {"id": number} | message for number, message in enumerate(messages, 1)]
    return {"name": "Bea", "type": "personal_chat", "id": 70, "messages": several}


def test_a_chat_of_telegram_is_read_alone_and_among_all() -> None:
    chat = telegram(
        {"from_id": "user1", "from": "Ada", "date_unixtime": "1778683450",
         "text": ["See ", {"type": "link", "text": "x.org"}]},
        {},
        {"forwarded_from": "Cy"},
        {"type": "service"},
        {"text": "", "photo": "1.jpg"},
        {"date": "soon"},
    )  # fmt: skip
    own = {"personal_information": {"user_id": 1}}
    alone, left_out = found(json.dumps(chat), "user1")
    whole, _ = found(
        json.dumps({**own, "chats": {"about": "x", "list": [chat, chat | {"id": 71}]}}), "nobody"
    )
    assert shown(alone) == [("2026-05-13T14:44", "See x.org", None), ("2026-05-13T16:44", "Hi", "Bea")]
    assert [(each.direction, each.contact) for each in alone] == [("outgoing", "Bea"), ("incoming", "Bea")]
    assert [(each.session_id, each.message_id, each.direction) for each in whole] == [
        (chat, number, way) for chat in ("70", "71") for number, way in (("1", "outgoing"), ("2", "incoming"))
    ]
    assert sum(reason.count for reason in left_out.reasons.values()) == 4
    assert left_out.reasons["a message without a readable date"].places == ["#6 (chat 70, message 6)"]
    torn, left_out = found(json.dumps(chat)[:-300], "Ada")
    assert len(torn) == 2
    assert left_out.reasons["the JSON is broken, and its rest was not read"].broken


MAIL = Path(__file__).with_name("mail.mbox").read_bytes()


def test_a_mailbox_gives_own_words_in_threads() -> None:
    messages, left_out = found(MAIL, "ada@x.org")
    assert [(each.text, each.direction, each.contact) for each in messages] == [
        ("I moved to Porto\ufffd.\nFrom here it is far.", "incoming", "Bea"),
        ("Nice!", "outgoing", "Bea"),
    ]
    assert messages[0].session_id == messages[1].session_id
    assert left_out.reasons["bytes that are not in the character set of their mail were replaced"].count == 1
    assert messages[0].metadata == {"source": "mail", "subject": "Dinner"}
    assert left_out.reasons["a message without a readable date"].places == ["mail 3 (line 24)"]


@pytest.mark.parametrize("data", ["", "hello\nworld", "{}", "[1.1.26, 1:1"])
def test_a_file_that_is_no_chat_is_refused(data: str) -> None:
    with pytest.raises(ExportUnreadableError, match="give "):
        found(data)
