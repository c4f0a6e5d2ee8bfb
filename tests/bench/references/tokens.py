"""Compares a reference with the snippets of a recall: tokens, and whether the present state is in the context.

Thirty lists and plans grow by 10 to 300 ops, half in English and half in Chinese, once with few done items that stay
in the value and once with many. Each op is told twice: as an op on a
reference, and as a turn in prose for the rules extractor. One question about the present is then asked of both. The
snippets are the first five cards, and beside them the first twenty. They hold the present state when they name every
open item, whatever they say of it.
"""

import random
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evaluation.answers.memory import open_memory
from events.platform.settings import Settings
from events.references.kinds.kind import rendering_of
from events.references.kinds.registry import BUILT_IN
from events.types.references import ReferenceName
from ingest.decider import Command
from ingest.references import reference_commands
from ingest.references.reference_commands import ReferenceStream
from retrieval.context.token_estimate import count_tokens
from tests.support.events.turns import recorded
from tests.support.tables import rows

SIZES = (10, 20, 30, 40, 50, 60, 80, 100, 120, 150, 180, 200, 220, 260, 300)
SNIPPETS, MORE_SNIPPETS = 5, 20
OPEN = 8
"""About so many items are open at any time."""
DONE = (4, 16)
"""At most so many done items stay in the value."""
_BEGUN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_THINGS = {language: things for language, *things in rows(__file__, "things.txt")}
_WORDS = {(language, kind, op): sentence for language, kind, op, sentence in rows(__file__, "sentences.txt")}
_KEYS = {"en": "cabin", "zh": "山屋"}


@dataclass(frozen=True)
class Story:
    """One list or plan: its ops with the words that tell them, and the texts of the items that stay open."""

    user: str
    language: str
    kind: str
    ops: Sequence[tuple[Mapping[str, Any], str]]
    left: Sequence[str]

    @property
    def key(self) -> str:
        return _KEYS[self.language]

    @property
    def question(self) -> str:
        return _WORDS[self.language, self.kind, "ask"].format(key=self.key)


def stories(done: int) -> Iterator[Story]:
    for language in ("en", "zh"):
        for number, size in enumerate(SIZES):
            yield story(language, ("todo_list", "plan")[number % 2], size, done)


def story(language: str, kind: str, size: int, most_done: int) -> Story:
    """Makes ``size`` ops: items are added, done and taken away again, so the value keeps a length of everyday life."""
    chance = random.Random(f"{language}{kind}{size}")
    things = _THINGS[language]
    add, done = ("add", "mark_done") if kind == "todo_list" else ("add_step", "complete")
    here: dict[str, str] = {}
    finished: list[str] = []
    ops: list[tuple[Mapping[str, Any], str]] = []
    for number in range(size):
        free = [thing for thing in things if thing not in here.values()]
        unfinished = [item for item in here if item not in finished]
        item = f"{number}"
        if not unfinished or (
            free and len(finished) <= most_done and chance.random() < 1 - len(unfinished) / (2 * OPEN)
        ):
            here[item] = text = chance.choice(free)
            op: dict[str, Any] = {"op": add, "text": text, "item_id": item}
        elif len(finished) > most_done:
            item = finished.pop(0)
            text = here.pop(item)
            op = {"op": "remove", "item_id": item}
        else:
            item = chance.choice(unfinished)
            text = here[item]
            finished.append(item)
            op = {"op": done, "item_id": item}
        ops.append((op, _WORDS[language, kind, op["op"]].format(x=text, key=_KEYS[language])))
    return Story(
        f"{language}-{size}-{most_done}",
        language,
        kind,
        ops,
        [here[item] for item in here if item not in finished],
    )


def main() -> None:
    for most_done in DONE:
        print(f"at most {most_done} done items stay in the value")
        measure(list(stories(most_done)))


def measure(told: Sequence[Story]) -> None:
    with open_memory(Settings(), None) as memory:
        connection = memory.connection
        for each in told:
            kind = BUILT_IN[each.kind]
            name = ReferenceName(kind=each.kind, key=each.key)
            owner = f"{each.user}-kept"
            begun = ReferenceStream(connection, name, Command(owner=owner, actor="bench", at=_BEGUN))
            reference_commands.create(begun, kind, None, "session")
            turns = []
            for number, (op, text) in enumerate(each.ops):
                at = _BEGUN + timedelta(hours=number)
                stream = ReferenceStream(connection, name, Command(owner=owner, actor="bench", at=at))
                reference_commands.apply(stream, kind, op)
                turns.append(
                    recorded(text, turn_id=f"{number}", said_at=at, session_id=f"day {number // 24}")
                )  # fmt: skip
            memory.read(each.user, turns, lambda: None)
        memory.project()
        now = _BEGUN + timedelta(days=30)
        said = memory.answers([(each.user, each.question, now) for each in told])
        kept = memory.answers([(f"{each.user}-kept", each.question, now) for each in told])
    print(
        f"{'language':9}{'kind':11}{'ops':>4}{'open':>5}{'reference':>10}{'snippets':>9}{'named':>7}  state in context"
    )
    ratios, shares, more_shares, more_ratios = [], [], [], []
    complete = more_complete = found = 0
    for each, prose, reference in zip(told, said, kept, strict=True):
        data = BUILT_IN[each.kind].initial()
        for number, (op, _) in enumerate(each.ops):
            completed = BUILT_IN[each.kind].complete(
                op, at=(_BEGUN + timedelta(hours=number)).isoformat(), new_id="-"
            )
            data = BUILT_IN[each.kind].apply(data, completed)
        rendering = rendering_of(BUILT_IN[each.kind], each.key, data)
        everything = [card.card.content for card in prose.recall.cards[:MORE_SNIPPETS]]
        snippets = everything[:SNIPPETS]
        named = sum(any(text in snippet for snippet in snippets) for text in each.left)
        more = sum(any(text in snippet for snippet in everything) for text in each.left)
        right = rendering in reference.prompt.text
        tokens = sum(map(count_tokens, snippets))
        ratios.append(count_tokens(rendering) / max(tokens, 1))
        more_ratios.append(count_tokens(rendering) / max(sum(map(count_tokens, everything)), 1))
        more_shares.append(more / max(len(each.left), 1))
        more_complete += more == len(each.left)
        shares.append(named / max(len(each.left), 1))
        complete += named == len(each.left)
        found += right
        print(
            f"{each.language:9}{each.kind:11}{len(each.ops):4}{len(each.left):5}{count_tokens(rendering):10}{tokens:9}"
            f"{named:4}/{len(each.left):<2}  reference {'yes' if right else 'no'}, "
            f"snippets {'yes' if named == len(each.left) else 'no'}"
        )
    print(f"the reference is in the context: {found} of {len(told)}")
    for count, whole, share, ratio in (
        (SNIPPETS, complete, shares, ratios),
        (MORE_SNIPPETS, more_complete, more_shares, more_ratios),
    ):
        print(
            f"{count} snippets name every open item: {whole} of {len(told)}, "
            f"{statistics.mean(share):.2f} of the open items; "
            f"tokens of the reference / tokens of the snippets: median {statistics.median(ratio):.2f}, "
            f"{min(ratio):.2f} to {max(ratio):.2f}"
        )


if __name__ == "__main__":
    main()
