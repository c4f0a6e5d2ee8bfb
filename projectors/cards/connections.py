"""Relations that people and agents make between cards. Relations form no cycle."""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

# No family may form a cycle. Updates and state changes are one family.
_FAMILIES = {
    "update": "chain",
    "state_change": "chain",
    "retracts": "retracts",
    "parent_of": "parent_of",
    "expands": "expands",
}
CHAINS = tuple(_FAMILIES)
SUPERSEDING = tuple(name for name, family in _FAMILIES.items() if family == "chain")
"""From the newer card to the older card, which is no longer true."""

Link = tuple[str, UUID, UUID, str]  # user, from, to, predicate


class Connections:
    """The chains among the cards of some users. Links are added in the order of the log.

    The last link of a cycle is refused. The log has one order, so every batching refuses the same link. A refused
    link stays refused when an earlier link is withdrawn. The same link can be made again.
    """

    def __init__(self, links: Iterable[Link] = ()) -> None:
        self._next: defaultdict[tuple[str, str, UUID], set[tuple[UUID, str]]] = defaultdict(set)
        for link in links:
            self._add(link)

    def connect(self, link: Link) -> bool:
        """Adds ``link``. Returns False and adds nothing when the link would close a cycle."""
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
        """Removes ``link``. An unknown link changes nothing."""
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
