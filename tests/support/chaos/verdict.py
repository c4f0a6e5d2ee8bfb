"""Compares what is in the log and in the tables with what was pushed, without the fold of the project."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from deploy.instance import find
from events.platform.database import connect
from events.platform.settings import Settings
from events.store import log
from events.types.codec import encode
from events.types.envelope import PARTITIONS, Event
from events.types.extraction import ExtractionFailed, TurnsExtracted
from events.types.turns import TurnRecorded
from tests.support.chaos.load import Fact, Ledger, Turn


@dataclass(slots=True)
class Verdict:
    """The result of the comparison. ``faults`` names everything that is wrong.

    ``pushed`` counts turns, however often each was pushed: those acknowledged, and those that are in the log
    although their pusher, who gave them no id, never heard so.
    """

    pushed: int = 0
    recorded: int = 0
    duplicates: int = 0
    lost: int = 0
    doubled: int = 0
    cards: int = 0
    faults: list[str] = field(default_factory=list)

    def line(self, equal: object) -> str:
        return (
            f"turns pushed {self.pushed}, in log {self.recorded}, duplicates {self.duplicates}, lost {self.lost}, "
            f"cards {self.cards}, digest equal to a fresh rebuild: {equal}"
        )

    def blame(self, what: str, found: Sequence[object]) -> None:
        if found:
            self.faults.append(f"{what}: {len(found)}, such as {found[0]}")


def judge(ledger: Ledger, database_url: str, data: Path | None = None) -> Verdict:
    """Compares the log and the cards with the ledger. ``data`` is the folder with the keys of a sealed log."""
    verdict = Verdict()
    if data is not None:
        find(Settings(), data)
    with connect(database_url, application="verdict") as connection:
        connection.row_factory = dict_row
        events = [event for partition in range(PARTITIONS) for event in log.read(connection, partition)]
        _judge_log(ledger, events, verdict)
        _judge_extractions(events, verdict)
        _judge_episodes(ledger, connection, verdict)
        _judge_states(ledger, connection, verdict)
    return verdict


def _judge_log(ledger: Ledger, events: Sequence[Event], verdict: Verdict) -> None:
    recorded = [
        (event.user_id, json.loads(encode(event.payload)))
        for event in events
        if isinstance(event.payload, TurnRecorded)
    ]
    times = Counter((user, turn["turn_id"]) for user, turn in recorded)
    verdict.recorded = len(recorded)
    lost = [key for key in ledger.acknowledged if key not in times]
    twice = [key for key, count in times.items() if count > 1]
    # A turn without an id may be in the log once for each push with an unknown answer, and no more.
    named = {key for key, turn in ledger.acknowledged.items() if "turn_id" in turn.fields}
    copies = Counter((user, turn["text"]) for user, turn in recorded if (user, turn["turn_id"]) not in named)
    allowed = ledger.anonymous + ledger.doubtful
    too_often = [words for words, count in copies.items() if count > allowed[words]]
    unanswered = ((copies & allowed) - ledger.anonymous).total()
    changed = []
    for user, turn in recorded:
        pushed = ledger.acknowledged.get((user, turn["turn_id"]))
        if pushed is not None and not _same(pushed, turn):
            changed.append((pushed, turn))
    verdict.pushed = len(ledger.acknowledged) + unanswered
    verdict.lost, verdict.duplicates = len(lost), len(twice) + len(too_often)
    verdict.blame("acknowledged and not in the log", lost)
    verdict.blame("in the log more than once", [*twice, *too_often])
    verdict.blame("not as pushed", changed)


def _same(pushed: Turn, turn: Mapping[str, Any]) -> bool:
    for name in ("text", "timezone", "session_id"):
        if turn[name] != pushed.fields[name]:
            return False
    if "said_at" not in pushed.fields:
        return True
    said, meant = datetime.fromisoformat(turn["said_at"]), datetime.fromisoformat(pushed.fields["said_at"])
    return said == meant and said.utcoffset() == meant.utcoffset()


def _judge_extractions(events: Sequence[Event], verdict: Verdict) -> None:
    read = Counter(
        (event.user_id, turn_id)
        for event in events
        if isinstance(event.payload, TurnsExtracted | ExtractionFailed)
        for turn_id in event.payload.turn_ids
    )
    turns = [
        (event.user_id, event.payload.turn_id) for event in events if isinstance(event.payload, TurnRecorded)
    ]
    verdict.blame("not read exactly once by the extractor", [turn for turn in turns if read[turn] != 1])
    failed = [event.payload for event in events if isinstance(event.payload, ExtractionFailed)]
    verdict.blame("failed extractions", failed)


def _judge_episodes(ledger: Ledger, connection: psycopg.Connection[dict[str, Any]], verdict: Verdict) -> None:
    rows = connection.execute("SELECT user_id, turn_ids, content FROM cards.cards WHERE episode").fetchall()
    told = Counter((row["user_id"], *row["turn_ids"]) for row in rows)
    verdict.blame("turns with several episodes", [key for key, count in told.items() if count > 1])
    verdict.blame("turns without an episode", [key for key in ledger.acknowledged if key not in told])
    wrong = [
        row
        for row in rows
        if (turn := ledger.acknowledged.get((row["user_id"], *row["turn_ids"]))) is not None
        and turn.text != row["content"]
    ]
    verdict.blame("episodes in other words", wrong)
    doubled = connection.execute(
        """SELECT user_id, kind, turn_ids, content, count(*) FROM cards.cards
           GROUP BY 1, 2, 3, 4, episode HAVING count(*) > 1"""
    ).fetchall()
    verdict.doubled = len(doubled)
    verdict.blame("cards there more than once", doubled)
    row = connection.execute("SELECT count(*) AS cards FROM cards.cards").fetchone()
    assert row is not None
    verdict.cards = row["cards"]


def _judge_states(ledger: Ledger, connection: psycopg.Connection[dict[str, Any]], verdict: Verdict) -> None:
    rows = connection.execute(
        """SELECT user_id, concept_key, value, effective_at, superseded_at, mentions FROM cards.cards
           WHERE kind = 'state' AND NOT retracted ORDER BY user_id, concept_key, effective_at"""
    ).fetchall()
    found: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        found[row["user_id"], row["concept_key"]].append(
            (row["value"], row["effective_at"], row["superseded_at"], row["mentions"])
        )
    expected = timelines(list(ledger.acknowledged.values()))
    wrong = [
        f"{key}: {found.get(key)} instead of {expected.get(key)}"
        for key in {*expected, *found}
        if found.get(key) != expected.get(key)
    ]
    verdict.blame("histories of a state that are not what was said", wrong)


def timelines(turns: Sequence[Turn]) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
    """Returns the value of each user and concept with its period and its number of statements, by the day meant."""
    said: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for turn in turns:
        if turn.fact is not None:
            said[turn.user, turn.fact.concept].append(turn.fact)
    expected: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for key, facts in said.items():
        facts.sort(key=lambda fact: fact.since)
        runs = [list(run) for _, run in groupby(facts, key=lambda fact: fact.value)]
        ends = [*(run[0].since for run in runs[1:]), None]
        expected[key] = [
            (run[0].value, run[0].since, end, len(run)) for run, end in zip(runs, ends, strict=True)
        ]
    return expected
