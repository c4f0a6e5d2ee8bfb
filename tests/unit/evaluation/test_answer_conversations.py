"""The conversations to measure with: enough of each kind, with evidence and keys that fit."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from evaluation.answers.conversations import CATEGORIES, DataError, chosen_of, own
from evaluation.answers.judging import holds, way_of
from evaluation.answers.outside import chats, conversations, everyday, locomo
from evaluation.answers.shown_cards import ShownCard
from evaluation.answers.told_times import told_times

OWN = own()


def test_the_own_conversations_are_chinese_in_both_scripts_over_months() -> None:
    assert sum(each.turns for each in OWN) >= 150
    assert sum(len(each.questions) for each in OWN) >= 45
    zones = {turn.timezone for each in OWN for session in each.sessions for turn in session}
    assert zones == {"Asia/Taipei", "Asia/Shanghai"}
    for each in OWN:
        instants = [turn.said_at for session in each.sessions for turn in session]
        assert instants == sorted(instants)
        assert (instants[-1] - instants[0]).days > 120
        roles = {turn.role for session in each.sessions for turn in session}
        assert roles == ({"user", "assistant"} if each.name.endswith("assistant") else {"user"})
    kinds = Counter(question.category for each in OWN for question in each.questions)
    assert set(kinds) == set(CATEGORIES)


def test_every_question_has_evidence_in_its_conversation_and_a_way_to_judge_it() -> None:
    seen = set()
    for each in OWN:
        turns = {turn.turn_id for session in each.sessions for turn in session}
        for question in each.questions:
            assert question.evidence
            assert question.evidence <= turns
            assert way_of(question) != "none"
            assert question.question_id not in seen
            seen.add(question.question_id)


def test_the_evidence_itself_answers_the_question_once_its_times_are_told() -> None:
    for each in OWN:
        turns = {turn.turn_id: turn for session in each.sessions for turn in session}
        for question in each.questions:
            times = tuple(
                told
                for text in (question.key.when if question.key is not None else ())
                for told in told_times(text)
            )
            order = sorted(question.evidence, key=int, reverse=True)
            earlier = sorted({str(int(turn) - 2) for turn in order if int(turn) > 2}, key=int)
            words = [turns[turn].text for turn in order]
            whole = "\n".join([*words, *(turns[turn].text for turn in earlier), question.text])
            cards = [*(ShownCard(text, times) for text in words), ShownCard(whole, times)]
            assert holds(question, cards), question


def locomo_like(folder: Path) -> Path:
    """Returns a file of the same shape as LoCoMo, with words of its own."""
    turns = [
        {
            "dia_id": f"D{session}:{number}", "speaker": "Ines", "text": f"word {session} {number}", "session": session,
            "session_date_time": f"1:0{number} pm on {session} May, 2024",
            **({"caption": "a green boat"} if number == 2 else {}),
        }
        for session in range(1, 32)
        for number in (1, 2)
    ]  # fmt: skip
    questions = [
        {"question": "Inside?", "answer": "yes", "evidence": ["D4:1; D5:2"], "category": 4},
        {"question": "Half outside?", "answer": "no", "evidence": ["D4:1", "D31:2", "D1:1"], "category": 1},
        {"question": "Adversarial?", "answer": "no", "evidence": ["D4:1"], "category": 5},
    ]
    path = folder / "locomo" / "locomo_dev.json"
    path.parent.mkdir()
    path.write_text(json.dumps([{"turns": turns, "qa": questions}] * 5), "utf-8")
    return path


def test_of_locomo_the_chosen_sessions_are_read_with_the_questions_that_lie_inside(tmp_path: Path) -> None:
    found = locomo(locomo_like(tmp_path))
    assert [each.group for each in found] == ["locomo"] * 3 + ["locomo, unseen"] * 2
    first = found[0]
    assert [turn.session_id for session in first.sessions for turn in session[:1]] == [
        f"session {number}" for number in range(2, 7)
    ]
    assert first.sessions[0][1].text == "word 2 2 [a green boat]"
    assert [(each.question_id, each.evidence) for each in first.questions] == [
        ("0/0", frozenset({"D4:1", "D5:2"}))
    ]
    assert first.private
    assert [each.name for each in conversations(tmp_path)] == [
        *(each.name for each in OWN),
        *(e.name for e in found),
    ]


def test_of_a_chat_the_first_turns_are_read_with_the_questions_that_cards_can_answer(tmp_path: Path) -> None:
    turns = [
        {
            "turn_id": str(n),
            "session_id": "s1",
            "role": "user",
            "said_at": "2026-05-01T09:00:00Z",
            "text": "word",
        }
        for n in range(400)
    ]
    questions = [
        {"type": kind, "question": "What?", "evidence": evidence, "answer": "word"}
        for kind, evidence in (
            ("knowledge_update", ["1", "299"]),
            ("knowledge_update", ["300"]),
            ("event_ordering", ["1"]),
            ("information_extraction", []),
        )
    ]
    for name in ("17", "19"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"turns": turns, "questions": questions}))
    for chat in chats(tmp_path):
        assert (chat.group, chat.turns, chat.private) == ("beam", 300, True)
        assert [(each.category, each.evidence) for each in chat.questions] == [
            ("update", frozenset({"1", "299"}))
        ]


def test_of_everyday_chats_one_person_is_read_with_the_old_values_that_must_not_come_first(
    tmp_path: Path,
) -> None:
    cases = [
        {
            "lang": lang, "kind": "b", "user_id": f"{lang}{n}",
            "turns": [
                {
                    "turn_id": f"{lang}{n}-{t}", "role": "user", "text": text,
                    "said_at": f"2026-05-{n + 1:02}T09:0{t % 10}:00Z",
                }
                for t, text in enumerate(["an old boat", "a new Kite"] + ["word"] * 18)
            ],
            "questions": [
                {"question": "What?", "accept": ["kite"], "stale": "boat"},
                {"question": "When?", "accept": ["2 ?pm"]},
                {"question": "Which?", "all": ["old", "new"]},
            ],
        }
        for lang in ("en", "zht")
        for n in range(4)
    ]  # fmt: skip
    (tmp_path / "set.json").write_text(json.dumps(cases))
    (person,) = everyday(tmp_path / "set.json")
    assert (person.group, person.turns) == ("everyday", 40)
    assert {turn.turn_id[:3] for session in person.sessions for turn in session} == {"en2", "en3"}
    first, second = person.questions[:2]
    assert (first.category, first.evidence) == ("update", frozenset({"en2-1"}))
    assert first.key is not None
    assert (first.key.says, first.key.outdated) == (("kite",), ("boat",))
    assert (second.category, second.evidence) == ("single-hop", frozenset({"en2-0", "en2-1"}))


def test_another_file_is_refused_and_a_missing_one_is_left_out(tmp_path: Path) -> None:
    assert [each.name for each in conversations(tmp_path)] == [each.name for each in OWN]
    path = locomo_like(tmp_path)
    for text in ("", "{}", "[]", '[{"turns": 1}]'):
        path.write_text(text)
        with pytest.raises(DataError, match="locomo_dev"):
            conversations(tmp_path)


def test_a_conversation_that_does_not_exist_is_named() -> None:
    with pytest.raises(DataError, match="nobody"):
        list(chosen_of(OWN, ["nobody"]))
    assert [each.name for each in chosen_of(OWN, [OWN[1].name])] == [OWN[1].name]
