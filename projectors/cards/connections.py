"""Relations people and agents make between cards: additive, and never round in a circle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

# Followed from card to card, each of these must come to an end. Updates and changes of state are one chain.
_FAMILIES = {
    "update": "chain",
    "state_change": "chain",
    "retracts": "retracts",
    "parent_of": "parent_of",
    "expands": "expands",
}
CHAINS = tuple(_FAMILIES)

Link = tuple[str, UUID, UUID, str]  # user, from, to, predicate


class Connections:
    """The chains among cards of some users, followed in the order of the log.

    The log has one order, so which link of a circle came last, and is refused, is the same whoever folds it in
    whatever batches. What was refused stays refused when a link before it is withdrawn; it can be made again.
    """

    def __init__(self, standing: Iterable[Link] = ()) -> None:
        self._next: defaultdict[tuple[str, str, UUID], set[tuple[UUID, str]]] = defaultdict(set)
        for link in standing:
            self._add(link)

    def connect(self, link: Link) -> bool:
        """Add ``link``; False, and nothing is added, where it would lead back to where it comes from."""
        user_id, from_card, to_card, predicate = link
        if from_card == to_card:
            return False
        family = _FAMILIES.get(predicate)
        if family is not None:
            if self._leads(user_id, family, to_card, from_card):
                return False
            self._add(link)
        return True

    def withdraw(self, link: Link) -> None:
        """Take ``link`` out, where it was."""
        user_id, from_card, to_card, predicate = link
        self._next[user_id, _FAMILIES.get(predicate, predicate), from_card].discard((to_card, predicate))

    def _add(self, link: Link) -> None:
        user_id, from_card, to_card, predicate = link
        self._next[user_id, _FAMILIES[predicate], from_card].add((to_card, predicate))

    def _leads(self, user_id: str, family: str, start: UUID, end: UUID) -> bool:
        seen, waiting = {start}, [start]
        while waiting:
            card = waiting.pop()
            if card == end:
                return True
            for following, _ in self._next.get((user_id, family, card), ()):
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return False
