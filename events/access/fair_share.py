"""Shares a number of places among those who ask, so that nobody can hold them all."""

from collections import Counter

Asker = tuple[str, str]
"""Who uses a place: a tenant and its key. Without a key: an empty text and an address."""

ANYONE: Asker = ("", "")


class FairShare:
    """Counts the places that each asker holds.

    An asker gets a place only while as many are free as it and its tenant would then hold together. So one key alone
    holds at most a third of the places, all keys of one tenant at most half, and others always find free ones: each
    further tenant that takes all it can makes what is left smaller, but never takes the rest.
    """

    def __init__(self, places: int) -> None:
        self.places = self.free = places
        self._held: Counter[Asker | str] = Counter()

    def admits(self, asker: Asker, places: int = 1) -> bool:
        """True when the share of ``asker`` has room for ``places`` more."""
        return self._held[asker] + places <= self.free - self._held[asker[0]]

    def held(self, asker: Asker) -> int:
        return self._held[asker]

    def take(self, asker: Asker, places: int = 1) -> None:
        self.free -= places
        self._held.update({asker: places, asker[0]: places})

    def give_back(self, asker: Asker, places: int = 1) -> None:
        self.free += places
        for each in (asker, asker[0]):
            self._held[each] -= places
            if not self._held[each]:
                del self._held[each]
