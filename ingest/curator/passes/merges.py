"""The pass that proposes merges of people. The words of the cards give the evidence."""

from __future__ import annotations

from ingest.curator.memory import Memory
from ingest.curator.proposals import Proposal, ProposeMerge

MOST_WAITING = 100
"""The most proposals of one user, the most probable first."""


def merges(memory: Memory) -> list[Proposal]:
    """Returns a proposal for each pair of people whose evidence is below the threshold of a merge."""
    return [
        ProposeMerge(
            reason=each.evidence[0],
            confidence=each.score,
            person_id=each.person_id,
            into_id=each.into_id,
            words=each.evidence[1:],
        )
        for each in memory.people.proposals[:MOST_WAITING]
    ]
