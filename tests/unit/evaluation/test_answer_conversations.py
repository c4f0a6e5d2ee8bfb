"""The conversations to measure with: enough of each kind, with evidence and keys that fit."""

from evaluation.answers.conversations import (
    own,
)
from evaluation.answers.judging import holds, way_of
from evaluation.answers.shown_cards import ShownCard
from evaluation.answers.told_times import told_times

OWN = own()


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
