"""Chains: one person's history each, grown from a seed, with the questions asked of it at every depth.

Four ways a memory ages. *Compression*: details of a dense turn are wanted later. *Interference*: the facts
of many others, alike in kind, pile up around one's own. *Revision*: facts change, once or twice, months
apart. *Maintenance*: what was said once stays true and must not be tidied away.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from events.language.chinese_script import to_simplified
from tests.aging.language import Fact, Language, Names, language

MECHANISMS = ("compression", "interference", "revision", "maintenance")
_BEGIN = datetime(2025, 1, 6, 9, 0)
_FACTS = 4
_SESSION = 8


@dataclass(frozen=True, slots=True)
class Depth:
    """The distance between the last statement of a fact and the question: unrelated turns, and days."""

    turns: int
    days: int


DEPTHS = (Depth(0, 0), Depth(25, 7), Depth(100, 30), Depth(200, 90), Depth(400, 183))


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of a chain."""

    text: str
    said_at: datetime
    role: str = "user"


@dataclass(frozen=True, slots=True)
class Probe:
    """A question, what answers it, and what answered it once."""

    question: str
    current: str
    stale: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """A history in as many parts as there are depths; part 0 holds every fact, the others only talk.

    ``ends`` are the instants the questions are asked at, one after each part.
    """

    mechanism: str
    number: int
    language: str
    zone: str
    parts: tuple[tuple[Said, ...], ...]
    ends: tuple[datetime, ...]
    probes: tuple[Probe, ...]

    @property
    def user_id(self) -> str:
        return f"{self.mechanism}-{self.number}"

    def entries(self, part: int) -> Iterator[dict[str, str]]:
        """The turns of a part as an app pushes them."""
        for at, said in enumerate(self.parts[part]):
            yield {
                "user_id": self.user_id,
                "text": said.text,
                "role": said.role,
                "session_id": f"{part}.{at // _SESSION}",
                "said_at": said.said_at.isoformat(),
                "timezone": self.zone,
                "turn_id": f"{part}.{at}",
            }


def chains(count: int, seed: int, depths: Sequence[Depth] = DEPTHS) -> list[Chain]:
    """``count`` chains of each mechanism, English and Chinese in turn. The same seed gives the same chains."""
    return [_chain(mechanism, number, seed, depths) for mechanism in MECHANISMS for number in range(count)]


def _chain(mechanism: str, number: int, seed: int, depths: Sequence[Depth]) -> Chain:
    chance = random.Random(f"{seed}/{mechanism}/{number}")
    spoken = "english" if number % 2 == 0 else "chinese"
    words = language(spoken)
    narrator = _Narrator(words, chance)
    probes = _TOLD[mechanism](narrator)
    share = 0.6 if mechanism == "interference" else 0.25
    parts = [tuple(narrator.said)]
    ends = [narrator.now + timedelta(minutes=5)]
    told = narrator.now
    before = Depth(0, 0)
    for depth in depths[1:]:
        part = narrator.idle(depth.turns - before.turns, told + timedelta(days=depth.days), share)
        parts.append(tuple(part))
        ends.append(narrator.now + timedelta(minutes=5))
        before = depth
    chain = Chain(mechanism, number, spoken, words.zone, tuple(parts), tuple(ends), tuple(probes))
    return _simplified(chain) if number % 4 == 3 else chain


class _Narrator:
    """A history in the making: its clock, its names, and its statements so far."""

    def __init__(self, words: Language, chance: random.Random) -> None:
        self.words = words
        self.chance = chance
        self.names = Names(words.pools, chance)
        self.now = _BEGIN.replace(tzinfo=ZoneInfo(words.zone)) + timedelta(days=chance.randrange(60))
        self.said: list[Said] = []
        self._decks: dict[tuple[str, ...], list[str]] = {}

    def say(self, text: str) -> None:
        self.now += timedelta(minutes=self.chance.randint(2, 300))
        self.said.append(Said(text, self.now))

    def chat(self, count: int) -> None:
        for _ in range(count):
            self.say(self.names.fill(self._draw(self.words.talk)))

    def later(self, days: int) -> None:
        self.now += timedelta(days=days)

    def idle(self, count: int, until: datetime, share: float) -> list[Said]:
        """Returns ``count`` unrelated turns up to ``until``. ``share`` of the user turns are facts of other people."""
        step = (until - self.now) / max(1, count)
        part = []
        for _ in range(count):
            self.now += step
            if self.chance.random() < 0.15:
                part.append(Said(self._draw(self.words.replies), self.now, "assistant"))
                continue
            others = self.chance.random() < share
            wording = self._draw(self.words.others if others else self.words.talk)
            part.append(Said(self.names.fill(wording), self.now))
        self.now = max(self.now, until)
        return part

    def _draw(self, wordings: tuple[str, ...]) -> str:
        """Returns each wording once before any wording comes again."""
        deck = self._decks.get(wordings)
        if not deck:
            deck = self._decks[wordings] = self.chance.sample(wordings, len(wordings))
        return deck.pop()

    def pick(self, facts: Sequence[Fact], count: int) -> list[Fact]:
        return self.chance.sample(facts, count)


def _compression(narrator: _Narrator) -> list[Probe]:
    probes = []
    for packed in narrator.chance.sample(narrator.words.packed, 2):
        filled: dict[str, str] = {}
        for slot in narrator.words.pools:
            if f"{{{slot}}}" in packed.text:
                filled[slot] = narrator.names.take(slot)
        narrator.say(packed.text.format_map(filled))
        narrator.chat(2)
        probes += [Probe(question.format_map(filled), filled[slot]) for question, slot in packed.asked[:2]]
    return probes


def _interference(narrator: _Narrator) -> list[Probe]:
    facts = [fact for fact in (*narrator.words.lasting, *narrator.words.changing) if fact.about != "person"]
    of_others = [fact for fact in narrator.words.lasting if fact.about == "person"]
    return _once(narrator, [*narrator.pick(facts, _FACTS - 1), narrator.chance.choice(of_others)])


def _maintenance(narrator: _Narrator) -> list[Probe]:
    return _once(narrator, narrator.pick(narrator.words.lasting, _FACTS))


def _once(narrator: _Narrator, facts: Sequence[Fact]) -> list[Probe]:
    probes = []
    for fact in facts:
        about = {"p": narrator.names.take(fact.about)} if fact.about else {}
        value = narrator.names.take(fact.pool)
        narrator.say(narrator.chance.choice(fact.stated).format(v=value, **about))
        narrator.chat(1)
        probes.append(Probe(narrator.chance.choice(fact.asked).format(**about), value))
    return probes


def _revision(narrator: _Narrator) -> list[Probe]:
    facts = narrator.pick(narrator.words.changing, _FACTS)
    twice = set(narrator.chance.sample([fact.name for fact in facts], 2))
    about = {fact.name: {"p": narrator.names.take(fact.about)} if fact.about else {} for fact in facts}
    # All values are taken before the first turn, so that no turn in between names a later value.
    values = {
        fact.name: [narrator.names.take(fact.pool) for _ in range(3 if fact.name in twice else 2)]
        for fact in facts
    }
    for fact in facts:
        narrator.say(narrator.chance.choice(fact.stated).format(v=values[fact.name][0], **about[fact.name]))
        narrator.chat(2)
    for change in (1, 2):
        # The changes are months apart. A third change within thirty days would rightly go to arbitration.
        narrator.later(narrator.chance.randint(60, 100))
        for fact in facts:
            if change < len(values[fact.name]):
                old, new = values[fact.name][change - 1 : change + 1]
                narrator.say(narrator.chance.choice(fact.changed).format(v=new, o=old, **about[fact.name]))
                narrator.chat(2)
    return [
        Probe(
            narrator.chance.choice(fact.asked).format(**about[fact.name]),
            values[fact.name][-1],
            tuple(values[fact.name][:-1]),
        )
        for fact in facts
    ]


_TOLD: dict[str, Callable[[_Narrator], list[Probe]]] = {
    "compression": _compression,
    "interference": _interference,
    "revision": _revision,
    "maintenance": _maintenance,
}


def _simplified(chain: Chain) -> Chain:
    """Returns the chain as somebody in Shanghai writes it."""
    return replace(
        chain,
        zone="Asia/Shanghai",
        parts=tuple(
            tuple(replace(said, text=to_simplified(said.text)) for said in part) for part in chain.parts
        ),
        probes=tuple(
            Probe(
                to_simplified(one.question), to_simplified(one.current), tuple(map(to_simplified, one.stale))
            )
            for one in chain.probes
        ),
    )
