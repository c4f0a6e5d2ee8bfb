"""Dialogues whose people are labelled: the names that each tells, and the person behind each name.

A dialogue of DialogRE has the names of one person as ``per:alternate_names``. Speakers have no names there, so two
names of one speaker are one person. An episode of Character Identification has the character of each mention. The
data are read from the folder in ``CARDLOG_EVAL_DATA``, and no word of them is kept.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from events.language.values import word_set
from events.types.cards import Utterance

_SPEAKER = re.compile(r"Speaker \d+")
_ALIAS = "per:alternate_names"
_NOBODY = re.compile(
    r"#|^(Man|Woman|Guy|Girl|Boy|Lady|Kid|Customer|Doctor|Nurse|Waiter|Waitress)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The names of a dialogue, its lines, and the pairs of names that are one person."""

    name: str
    names: tuple[str, ...]
    lines: tuple[Utterance, ...]
    same: frozenset[frozenset[str]]


def dialogues(folder: Path) -> Iterator[Dialogue]:
    """Yields the dialogues of the files that are there: those of ``people/`` in ``folder``."""
    for language in ("en", "cn"):
        path = folder / "people" / f"dialogre_{language}_dev.json"
        if path.is_file():
            for number, (lines, pairs) in enumerate(json.loads(path.read_text("utf-8"))):
                found = _of_pairs(f"dialogre_{language}/{number}", lines, pairs)
                if len(found.names) > 1:
                    yield found
    path = folder / "people" / "character_identification_dev.json"
    if path.is_file():
        for episode in json.loads(path.read_text("utf-8"))["episodes"]:
            yield _of_episode(episode)


def _of_pairs(name: str, lines: list[str], pairs: list[dict[str, Any]]) -> Dialogue:
    """A name is what stands in a pair as an alternate name, or as a person of another relation."""
    of: dict[str, set[str]] = defaultdict(set)
    known: set[str] = set()
    for pair in pairs:
        ends = (pair["x"], pair["y"])
        if _ALIAS in pair["r"]:
            of[ends[0]].add(ends[1])
            of[ends[1]].add(ends[0])
            known.update(ends)
        elif any(each.startswith("per:") for each in pair["r"]):
            known.update(
                end for end, kind in zip(ends, (pair["x_type"], pair["y_type"]), strict=True) if kind == "PER"
            )
    names = sorted(each for each in known if not _SPEAKER.fullmatch(each) and _proper(each))
    same = {
        frozenset(two)
        for two in combinations(names, 2)
        if two[1] in of[two[0]] or any(_SPEAKER.fullmatch(each) for each in of[two[0]] & of[two[1]])
    }
    return Dialogue(name, tuple(names), tuple(map(_said, lines)), frozenset(same))


def _of_episode(episode: dict[str, Any]) -> Dialogue:
    """A name is a mention with a capital letter of one character, and the name of a speaker. Pronouns are none."""
    who: dict[str, Counter[str]] = defaultdict(Counter)
    lines = []
    for scene in episode["scenes"]:
        for said in scene["utterances"]:
            for speaker in said["speakers"]:
                if not _NOBODY.search(speaker):
                    who[speaker][speaker] += 1
            lines.append(Utterance(said["transcript"] or "", ", ".join(said["speakers"])))
            for tokens, mentions in zip(said["tokens"], said["character_entities"], strict=True):
                for start, end, *characters in mentions:
                    words = tokens[start:end]
                    if len(characters) == 1 and all(each[:1].isupper() and len(each) > 1 for each in words):
                        who[" ".join(words)][characters[0]] += 1
    names = sorted(
        name
        for name, found in who.items()
        if not _NOBODY.search(found.most_common(1)[0][0]) and _proper(name)
    )
    meant = {name: who[name].most_common(1)[0][0] for name in names if len(who[name]) == 1}
    names = sorted(meant)
    same = {frozenset(two) for two in combinations(names, 2) if meant[two[0]] == meant[two[1]]}
    return Dialogue(f"characters/{episode['episode_id']}", tuple(names), tuple(lines), frozenset(same))


def _said(line: str) -> Utterance:
    speaker, _, text = line.partition(": ")
    return Utterance(text, speaker)


_COMMON = word_set(
    "you your yours he she his her hers him my mine me they them their we us our who whoever man guy girl woman boy "
    "dad mom mommy daddy honey sweetie dude buddy baby mr mrs ms dr doctor sir miss ma'am somebody someone anybody it"
)


def _proper(name: str) -> bool:
    """True for a name. What people only call each other, "dude" and "honey", is none. Chinese does not show it."""
    words = name.split()
    if words[0].casefold() in ("hey", "hi", "oh"):
        return False  # the label took the word of address in
    return all(not each.isascii() or each[:1].isupper() for each in words) and not all(
        each.casefold().strip(".") in _COMMON for each in words
    )
