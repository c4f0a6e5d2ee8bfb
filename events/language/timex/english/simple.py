"""The rules for periods of the English grammar, each under its first words."""

from collections.abc import Callable, Iterable

from ..scan import Found, Scan, packrat

Rule = Callable[[Scan, int], Found | None]

_BY_WORD: dict[str, list[Rule]] = {}
_BY_DIGITS: list[Rule] = []


def opens(*words: str | Iterable[str], digits: bool = False) -> Callable[[Rule], Rule]:
    """Registers a function as the rule of periods that begin with one of these words, or with a number."""

    def register(function: Rule) -> Rule:
        rule = packrat(function)
        for entry in words:
            for word in [entry] if isinstance(entry, str) else entry:
                rules = _BY_WORD.setdefault(word, [])
                if rule not in rules:
                    rules.append(rule)
        if digits:
            _BY_DIGITS.append(rule)
        return rule

    return register


def openers() -> frozenset[str]:
    """Returns the first words of all periods."""
    return frozenset(_BY_WORD)


@packrat
def simple(scan: Scan, i: int) -> Found | None:
    """Parses the longest period at word `i`, without a time of day."""
    word = scan.words[i]
    rules = _BY_WORD.get(word)
    if rules is None:
        if not (word.isdecimal() and word.isascii()):
            return None
        rules = _BY_DIGITS
    best: Found | None = None
    for rule in rules:
        found = rule(scan, i)
        if found is not None and (best is None or found[1] > best[1]):
            best = found
    return best
