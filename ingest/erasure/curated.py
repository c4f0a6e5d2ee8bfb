"""What the runs of the curator keep of erased cards: digests of their words, and the titles of their threads.

A digest of a guessed sentence is compared in a moment, so it goes with the words. What a run keeps of other cards is
said again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from uuid import UUID

from events.curator import asked_pairs
from events.types.curation import ACTOR, CuratorRan, CuratorUndone
from events.types.envelope import Event, Payload
from events.types.extraction import Usage
from events.types.threads import CardsThreaded, CardsUnthreaded, ThreadClosed, ThreadOpened, ThreadRenamed

_OF_THREAD = CardsThreaded | CardsUnthreaded | ThreadClosed | ThreadRenamed


class Curated:
    """Follows the events of one user in order."""

    def __init__(self) -> None:
        self._runs: list[Event] = []
        self._threads: dict[UUID, list[Event]] = {}  # those that the curator opened, each with its events

    def read(self, event: Event) -> None:
        """Takes the next event."""
        payload = event.payload
        if isinstance(payload, CuratorRan | CuratorUndone):
            self._runs.append(event)
        elif isinstance(payload, ThreadOpened) and event.actor == ACTOR:
            self._threads[event.event_id] = [event]
        elif isinstance(payload, ThreadOpened | _OF_THREAD) and payload.thread_id in self._threads:
            self._threads[payload.thread_id].append(event)

    def threads_without(self, gone: Collection[UUID]) -> Iterator[Event]:
        """Yields the events of the curator's threads of which no card stays. Their titles are words of these cards."""
        for events in self._threads.values():
            cards = {
                card
                for event in events
                if isinstance(event.payload, CardsThreaded)
                for card in event.payload.card_ids
            }
            if cards and cards <= {*gone}:
                yield from events

    def shortened(
        self, gone: Collection[UUID], keys: Collection[str | None]
    ) -> Iterator[tuple[Event, Payload]]:
        """Yields each event of a run that keeps something of the ``gone`` cards, with what stays of it.

        ``keys`` are the idempotency keys of the erased events.
        """
        dropped: dict[UUID, set[str]] = defaultdict(set)
        for event in self._runs:
            payload = event.payload
            if isinstance(payload, CuratorRan):
                run_id = payload.run_id or event.event_id
                acts = list(zip(payload.keys, payload.digests, strict=False))
                kept = [act for act in acts if act[0] not in keys]
                dropped[run_id] = {digest for _, digest in acts} - {digest for _, digest in kept}
                pairs = asked_pairs(payload.asked)
                asked = tuple(
                    entry for entry, (later, earlier, _) in pairs.items() if not {later, earlier} & {*gone}
                )
                if len(kept) < len(acts) or asked != payload.asked:
                    # The cost stays readable in the erased event, so it is not counted again.
                    yield (
                        event,
                        replace(
                            payload,
                            keys=tuple(key for key, _ in kept),
                            digests=tuple(digest for _, digest in kept),
                            asked=asked,
                            usage=Usage(),
                            run_id=run_id,
                        ),
                    )
            elif lost := dropped[payload.run_id] & {*payload.digests}:
                digests = tuple(each for each in payload.digests if each not in lost)
                yield event, replace(payload, digests=digests)
