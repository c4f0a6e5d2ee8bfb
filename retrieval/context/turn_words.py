"""The words of a turn that a prompt shows: the sentences that answer best, and what a turn adds to its card."""

import re
from collections.abc import Mapping, Sequence

from events.language.chinese_script import to_simplified
from events.language.terms import analyse
from events.resources.recall import Beside, PastFact
from retrieval.context.token_estimate import count_tokens
from retrieval.recall.answer import CardAnswer

EXCERPT = 80
"""The tokens of an excerpt of a turn."""
LONG_TURN = 80
"""The tokens of a long turn, which a prompt may shorten to some of its sentences."""
_NEWER = 120
"""The characters of the later words that stand beside a card which perhaps no longer holds."""
_LONGEST = 4000  # characters that are looked at
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|\.(?=\w))+(?:[.!?。！？]+[\"'”’」』)）]*|\n|$)")
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:['’][^\W_]+)*"
)
_SPACE = re.compile(r"\s+")
_BREAK = re.compile(r"\s\S*$")


def turn_words(answer: CardAnswer, room: int = EXCERPT) -> tuple[str, str]:
    """Returns what the other cards of the turn add to the card, and then what its words add, in ``room`` tokens.

    Both may be empty. A sentence is left out when the card, or a sentence before it, says all its words. The last
    sentence may be cut at a word; it then ends in "…".
    """
    shown = _plain(answer.card.content)
    heard = _heard(answer.card.content[:_LONGEST])
    read = _sentences([beside.content for beside in answer.beside if not beside.episode])
    spoken = _sentences([beside.content for beside in answer.beside if beside.episode])
    also: list[str] = []
    said: list[str] = []
    for words, sentence in [*((also, each) for each in read), *((said, each) for each in spoken)]:
        plain, new = _plain(sentence), _heard(sentence)
        if plain in shown or new <= heard:
            continue
        cost = count_tokens(f" {sentence}")
        if cost > room:
            if cut := _cut(sentence, room):
                words.append(cut)
            break
        words.append(sentence)
        shown, heard, room = f"{shown}\n{plain}", heard | new, room - cost
    return " ".join(also), " ".join(said)


def newer_words(later: Beside | None, past: Sequence[PastFact]) -> str | None:
    """Returns what later words say of a card, and what no longer holds of the turn, or None. A fact is told once."""
    told = []
    if later is not None:
        told.append(f"{'retracted' if later.retracted else 'perhaps no longer'}: {_in_short(later.content)}")
    for each in past:
        if later is None or later.content not in (each.content, each.instead):
            now = f", now: {_in_short(each.instead)}" if each.instead else ""
            told.append(f"{'retracted' if each.retracted else 'no longer'}: {_in_short(each.content)}{now}")
    return "; ".join(told) or None


def _in_short(words: str) -> str:
    one_line = " ".join(words.split())
    return one_line if len(one_line) <= _NEWER else one_line[:_NEWER].rstrip() + "…"


def best_sentences(text: str, asked: Mapping[str, float], room: int = LONG_TURN) -> str:
    """Returns the sentences of a long text that have most terms of a question, in their order; a short text as it is.

    ``asked`` are the terms with their weights. A term counts once, so the next sentence brings another term. The
    sentences have ``room`` tokens together, and "…" stands for what is left out between them. The text begins the
    excerpt when no sentence has a term. The last chosen sentence may be cut.
    """
    if count_tokens(text) <= room:
        return text
    sentences = _sentences([text])
    said = [frozenset(analyse(sentence)) & asked.keys() for sentence in sentences]
    missing = set(asked)
    chosen: list[int] = []
    left = list(range(len(sentences)))
    while left and room > 0:
        best = max(left, key=lambda n: (sum(asked[term] for term in said[n] & missing), -n))
        if chosen and not said[best] & missing:
            break
        left.remove(best)
        missing -= said[best]
        chosen.append(best)
        room -= count_tokens(f" {sentences[best]}")
    if room < 0:
        last = chosen[-1]
        sentences[last] = _cut(sentences[last], count_tokens(f" {sentences[last]}") + room)
    # What follows a sentence explains it.
    for n in sorted(chosen):
        if n + 1 in left and (cost := count_tokens(f" {sentences[n + 1]}")) <= room:
            left.remove(n + 1)
            chosen.append(n + 1)
            room -= cost
    words = ""
    for n in sorted(chosen):
        if sentences[n]:
            gap = "" if n == 0 or n - 1 in chosen else "… "
            words += f"{' ' if words else ''}{gap}{sentences[n]}"
    return words if len(sentences) - 1 in chosen or words.endswith("…") else f"{words} …"


def _sentences(texts: Sequence[str]) -> list[str]:
    return [
        sentence
        for text in texts
        for found in _SENTENCE.finditer(text[:_LONGEST])
        if (sentence := _SPACE.sub(" ", found[0]).strip())
    ]


def _plain(text: str) -> str:
    """Returns the text for a comparison of words: case, script, space and the last marks do not count."""
    return _SPACE.sub("", to_simplified(text.casefold())).strip(".!?。！？…")


def _heard(text: str) -> set[str]:
    """Returns the words of a text. A Chinese character is a word of its own."""
    return set(_WORD.findall(to_simplified(text.casefold())))


def _cut(sentence: str, room: int) -> str:
    """Returns the longest beginning of the sentence that has ``room`` with its "…". It ends at a word."""
    low, high = 0, len(sentence)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(f" {sentence[:middle]}…") <= room else (low, middle - 1)
    cut = sentence[:low]
    if low < len(sentence) and cut and cut[-1].isascii() and sentence[low].isascii():
        cut = _BREAK.sub("", cut) if " " in cut else ""
    return f"{cut.rstrip()}…" if cut.strip() else ""
