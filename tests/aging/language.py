"""The parts of chains in one language: pools of names, facts with their wordings, and small talk."""

import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Fact:
    """A kind of fact: where its values come from, and how it is said, said to have changed, and asked for.

    ``about`` names the pool of what it is a fact of; None for the speaker.
    """

    name: str
    pool: str
    stated: tuple[str, ...]
    asked: tuple[str, ...]
    changed: tuple[str, ...] = ()
    about: str | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """A turn of many details, and questions with the slot that answers each."""

    text: str
    asked: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Language:
    """All names, facts and wordings of one language."""

    zone: str
    pools: Mapping[str, tuple[str, ...]]
    changing: tuple[Fact, ...]
    lasting: tuple[Fact, ...]
    packed: tuple[Packed, ...]
    talk: tuple[str, ...]
    others: tuple[str, ...]
    replies: tuple[str, ...]


@cache
def language(name: str) -> Language:
    """Reads the language of ``name.toml``. Raises when a wording names a slot that nothing fills."""
    rows = tomllib.loads(resources.files("tests.aging").joinpath(f"{name}.toml").read_text("utf-8"))
    pools = {pool: tuple(values) for pool, values in rows["pools"].items()}
    talk = rows["talk"]
    found = Language(
        rows["zone"],
        pools,
        _facts(rows["changing"]),
        _facts(rows["lasting"]),
        tuple(
            Packed(one["text"], tuple((question, slot) for question, slot in one["asked"]))
            for one in rows["packed"]
        ),
        tuple(talk["any"]),
        tuple(talk["others"]),
        tuple(talk["reply"]),
    )
    for text in (*found.talk, *found.others, *(one.text for one in found.packed)):
        if unknown := slots(text) - pools.keys() - {"n", "m"}:
            raise ValueError(f"{name}.toml: nothing fills {sorted(unknown)} in {text!r}")
    return found


def _facts(rows: Mapping[str, Mapping[str, Any]]) -> tuple[Fact, ...]:
    return tuple(
        Fact(
            name,
            row["pool"],
            tuple(row["stated"]),
            tuple(row["asked"]),
            tuple(row.get("changed", ())),
            row.get("about"),
        )
        for name, row in rows.items()
    )


def slots(text: str) -> set[str]:
    """The names of the slots in a wording."""
    return set(_SLOT.findall(text))


class Names:
    """The pools of one chain: what a fact has taken, idle talk never mentions.

    So a question has one right answer, and a card that holds the value of a fact is about that fact.
    """

    def __init__(self, pools: Mapping[str, tuple[str, ...]], chance: random.Random) -> None:
        self._left = {pool: chance.sample(values, len(values)) for pool, values in pools.items()}
        self._chance = chance

    def take(self, pool: str) -> str:
        """Returns a value that no other fact gets."""
        return self._left[pool].pop()

    def fill(self, text: str) -> str:
        """Returns ``text`` with its slots filled from the remaining values. ``n`` and ``m`` are different people."""
        first, second = self._chance.sample(self._left["person"], 2)
        people = {"n": first, "m": second}
        return text.format_map(
            {slot: people.get(slot) or self._chance.choice(self._left[slot]) for slot in sorted(slots(text))}
        )
