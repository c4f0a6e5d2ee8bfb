"""Who wrote each evaluation set, and since when it has been looked at.

A set that was looked at is training data: its figures say that nothing broke, and never how good the memory is. A new
probe is written from two pages of the docs, without a look at the code. It counts once, as a first look.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Provenance:
    """``written``: by whom, and when. ``looked_at``: the day and the commit that first measured with the set."""

    written: str
    looked_at: str

    def line(self, name: str) -> str:
        return f"{name}: written by {self.written}; looked at since {self.looked_at}"


PROVENANCE = {
    "locomo": Provenance("Snap Research, 2024, CC BY-NC 4.0", "2026-11-21 (f8d5133)"),
    "memdaily": Provenance("the authors of MemSim, 2024", "2026-11-21 (32cb7b1)"),
    "lifebench": Provenance("the authors of LifeBench, Apache-2.0", "2026-11-21 (32cb7b1)"),
    "beam": Provenance("the authors of BEAM, no licence stated", "2026-11-22 (e1ffdcd)"),
    "realmem": Provenance("the authors of RealMem, Apache-2.0", "2026-11-22 (e1ffdcd)"),
    "aging": Provenance("the authors of AgingBench, MIT", "2026-11-22 (a1f05e4)"),
    "everyday": Provenance("somebody who knew two pages of the docs, 2026-11-23", "2026-11-23 (1efb775)"),
    "statebench": Provenance("the authors of StateBench, MIT", "2026-11-24 (a9fa16d)"),
    "chats-en": Provenance("writers who knew two pages of the docs, 2026-11-29", "2026-11-29 (0bc6059f)"),
    "chats-zh": Provenance("writers who knew two pages of the docs, 2026-11-29", "2026-11-29 (0bc6059f)"),
    "modes": Provenance("people of this project, 2026-11-23", "2026-11-23 (1297b81)"),
}
"""By the name of the set."""
