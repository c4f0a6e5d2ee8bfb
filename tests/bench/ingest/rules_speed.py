"""Measures the time of the rules extractor for a turn, with the turns before it as context.

    python tests/bench/ingest/rules_speed.py

The turns are those of the longitudinal chains, so the numbers are comparable anywhere; with CARDLOG_EVAL_DATA, those
of the LoCoMo conversations, too. The floor is one pass of a pattern that finds every word.
"""

import json
import re
import time
from collections.abc import Iterable
from datetime import datetime

from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from tests.aging.chains import chains
from tests.bench.support.locomo import turns_of
from tests.bench.support.stack import eval_data
from tests.support.events.turns import recorded as turn_of

_PRECEDING = 6
_TIMES = 3
_WORDS = re.compile(r"\w+")


def recorded(turns: Iterable[dict[str, str]]) -> list[RecordedTurn]:
    kept = ("turn_id", "timezone", "session_id", "speaker")
    return [
        RecordedTurn(
            turn["user_id"],
            number,
            turn_of(
                turn["text"],
                said_at=datetime.fromisoformat(turn["said_at"]),
                **{name: turn[name] for name in kept if name in turn},
            ),
        )
        for number, turn in enumerate(turns, 1)
    ]


def milliseconds(turns: list[RecordedTurn]) -> tuple[float, float]:
    """Milliseconds of processor a turn, the best of three: of the extractor, and of the floor."""
    extractor = RulesExtractor()
    bursts = [
        SessionBatch((turn,), tuple(turns[max(0, at - _PRECEDING) : at])) for at, turn in enumerate(turns)
    ]
    spent, floor = [], []
    for _ in range(_TIMES):
        began = time.process_time()
        for burst in bursts:
            extractor.extract(burst)
        spent.append(time.process_time() - began)
        began = time.process_time()
        for turn in turns:
            _WORDS.findall(turn.turn.text)
        floor.append(time.process_time() - began)
    return min(spent) / len(turns) * 1000, min(floor) / len(turns) * 1000


def main() -> None:
    told = chains(4, seed=7)
    sets = {
        language: recorded(
            entry
            for chain in told
            if chain.language == language
            for part in range(len(chain.parts))
            for entry in chain.entries(part)
            if entry["role"] == "user"
        )
        for language in ("english", "chinese")
    }
    path = eval_data("locomo", "locomo_dev.json")
    if path is not None:
        sets["LoCoMo"] = recorded(
            turn for conversation in json.loads(path.read_text()) for turn in turns_of(conversation)
        )
    for name, turns in sets.items():
        spent, floor = milliseconds(turns)
        size = sum(len(turn.turn.text) for turn in turns) / len(turns)
        print(
            f"{name:<8} {len(turns)} turns of {size:.0f} characters: {spent:.3f} ms a turn, {1000 / spent:.0f} turns/s "
            f"(floor {floor:.4f} ms)"
        )


if __name__ == "__main__":
    main()
