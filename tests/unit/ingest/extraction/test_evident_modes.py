"""The rules give a mode only by evident signs of code, and are never worse than the project's default."""

from datetime import UTC, datetime

from ingest.extraction.evident_modes import code_mode, evident_modes, holds_code
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.turn_modes import ModeChoice, ModeContext
from tests.support.events.turns import recorded
from tests.support.ingest.modes import MODES, labelled_turns
from tests.support.tables import LongText, examples

CHOICES = tuple(ModeChoice(name, description) for name, description in MODES.items())


def batch(text: str, context: ModeContext) -> SessionBatch:
    turn = recorded(text, turn_id="t", said_at=datetime(2026, 5, 8, tzinfo=UTC))
    return SessionBatch((RecordedTurn("ann", 1, turn),), modes=context)


def test_on_two_hundred_turns_every_evident_sign_is_right_and_the_default_is_never_worse() -> None:
    turns = labelled_turns()
    assert len(turns) == 200
    right = by_default = found = 0
    for each in turns:
        context = ModeContext(CHOICES, each.default)
        asked = batch(each.text, context)
        classified = dict(evident_modes(asked)).get("t")
        if classified is not None:
            found += 1
            assert (classified, each.mode) == ("code", "code"), each.text
        right += (context.of_turn(asked.turns[0].turn, classified) or "general") == each.mode
        by_default += each.default == each.mode
    assert found >= 16
    assert right >= by_default


@examples
def test_other_words_are_no_evident_sign(text: str) -> None:
    assert not holds_code(text)


@examples
def test_the_mode_of_code_must_be_the_only_one(names: dict[str, str], found: str | None) -> None:
    context = ModeContext(tuple(ModeChoice(name, text) for name, text in names.items()))
    assert code_mode(context) == found


@examples
def test_hostile_texts_are_read(text: LongText) -> None:
    assert holds_code(text) in (True, False)
