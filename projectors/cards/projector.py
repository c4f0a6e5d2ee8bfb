"""The cards projector: loads what the fold needs, folds, and writes the difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.sql import SQL

from events.platform.sql import statement
from events.store.log import Connection, event_of, events_of
from events.types.cards import EventNoted
from events.types.envelope import Event, partition_of
from events.types.erasure import Erased
from events.types.references import REFERENCE_TYPES, reference_id
from events.types.relations import CardsConnected
from projectors.cards.arbitration import Thresholds
from projectors.cards.connections import CHAINS, Link
from projectors.cards.copy_rows import (
    arbitration_lines,
    card_lines,
    relation_lines,
    remark_lines,
    statement_lines,
    update_lines,
    word_keys,
    word_lines,
    words_among,
)
from projectors.cards.event_standing import replaced_by, standings_touched
from projectors.cards.fold import (
    Changes,
    fold,
    keys_touched,
    noted_cards,
    remarked,
    replacements_of,
    withdrawn_places,
)
from projectors.cards.statement import Key, Statement, statements_of
from projectors.generations.copy_format import CopyBuffer, as_array, line
from projectors.generations.generations import StepKind

_STEPS: dict[StepKind, tuple[str, ...]] = {
    "tables": ("tables", "views"),
    "indexes": (
        "index_card_terms",
        "index_words",
        "index_card_pairs",
        "index_event_cards",
        "index_state_cards",
        "index_relations",
        "index_statements",
        "index_modes",
    ),
    "statistics": ("analyze_cards", "analyze_others"),
}
_COPIED = {
    "cards": "cards",
    "statements": "statements",
    "relations": "relations",
    "remarks": "remarks",
    "arbitrations": "arbitrations",
    "updates": "card_update_log",
    "words": "words",
    "counts": "card_counts",
}
"""The table of each statement ``copy_*``."""
_AT_ONCE = 500


class CardsProjector:
    """Folds the log into the tables of ``tables.sql``."""

    name = "cards"
    package = "projectors.cards"
    batch_partitions = 64
    rest_s = 0.0
    types = frozenset(
        (
            "StateAsserted",
            "EventNoted",
            "KnowledgeLearned",
            "CardsWithdrawn",
            "CardsConnected",
            "ConnectionWithdrawn",
            "CardVerified",
            "CardReclassified",
            "ConflictRuled",
            "TagAliased",
            "KnowledgeMerged",
            *REFERENCE_TYPES,
        )
    )

    def __init__(self, *, supersede: bool = True, thresholds: Thresholds | None = None) -> None:
        self._supersede = supersede
        self._thresholds = thresholds or Thresholds()

    def steps(self, kind: StepKind) -> list[SQL]:
        return [self._statement(name) for name in _STEPS[kind]]

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        """Folds ``events`` into the tables of the schema on the search path, in the transaction of the caller."""
        self._write(connection, self.changes(connection, events))

    def changes(self, connection: Connection, events: Sequence[Event]) -> Changes:
        """Returns what :meth:`project` would write. Writes nothing."""
        recalled = self._recalled(connection, events)
        keys = keys_touched(events, recalled, supersede=self._supersede)
        keys |= self._remarked(connection, events)
        known = self._known(connection, keys)
        said = [one.event for statements in known.values() for one in statements]
        return fold(
            events,
            known,
            recalled,
            remarks=self._remarks(connection, [*said, *events]) if keys else (),
            connections=self._connections(connection, events),
            replaced=self._replaced(connection, events, recalled),
            references=self._references(connection, events),
            supersede=self._supersede,
            thresholds=self._thresholds,
        )

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        """Folds whole users, one after the other, into empty tables.

        Event cards are written as they are read. The other cards of a user are written after all events of the user,
        because a late statement can change an early card. Events that replace another are applied some hundred at a
        time, to the cards in the table. Memory holds the statements of one user and a few megabytes of lines.
        """
        buffers = {
            name: CopyBuffer(connection, table, self._statement(f"copy_{name}"))
            for name, table in _COPIED.items()
        }
        aside: list[Changes] = []
        replacing: list[Event] = []
        for user_id, history in groupby(events, key=lambda event: event.user_id):
            spoken: set[str] = set()
            number, terms = 0, 0
            gone: set[UUID] = set()
            own: list[Event] = []
            for changes in self._folded(connection, history, own):
                if changes.cards_gone:
                    gone |= {card_id for _, _, card_id in changes.cards_gone}
                    # An event card is written at once, so it may be in the table when it is taken back.
                    buffers["cards"].flush()
                    self._delete_cards(connection, changes)
                for table, lines in _lines(changes):
                    for text in lines:
                        buffers[table].add(text)
                spoken |= changes.terms.get(user_id, set())
                for more_cards, more_terms in changes.counts.values():
                    number, terms = number + more_cards, terms + more_terms
                if changes.verified or changes.modes or changes.aliases:
                    aside.append(changes)
            buffers["words"].add(word_lines(user_id, spoken))
            if number:
                buffers["counts"].add(line((user_id, number, terms)))
            replacing += [event for event in own if event.event_id not in gone]
            if len(replacing) >= _AT_ONCE:
                self._load_replacements(connection, buffers, replacing)
                replacing = []
        self._load_replacements(connection, buffers, replacing)
        for buffer in buffers.values():
            buffer.flush()
        for changes in aside:
            self._write_aside(connection, changes)

    def forget(
        self,
        connection: Connection,
        storage_id: str,
        event_ids: Sequence[UUID] | None,
        remaining: Iterable[Event],
    ) -> None:
        """Deletes every row of the user and folds the remaining events again. A row may rest on many events."""
        gone = {"user_id": storage_id, "events": list(event_ids or ())}
        if event_ids is not None and not self._rows(connection, "folded", gone)[0]["folded"]:
            return
        connection.execute(self._statement("forget_user"), gone)
        if event_ids is not None:
            self.load(connection, remaining)

    def forget_words(self, connection: Connection, events: Sequence[Event]) -> int:
        """Returns 0: every row names its user."""
        return 0

    def held(self, connection: Connection, storage_id: str) -> dict[str, int]:
        rows = self._rows(connection, "held", {"user_id": storage_id})
        return {row["table_name"]: row["held"] for row in rows}

    def _load_replacements(
        self, connection: Connection, buffers: Mapping[str, CopyBuffer], replacing: Sequence[Event]
    ) -> None:
        """Applies all replacing events of some users. Their cards are written, and their relations are not."""
        if not replacing:
            return
        buffers["cards"].flush()
        changes = replacements_of(replacing, self._replaced(connection, replacing, ()))
        for text in relation_lines(changes):
            buffers["relations"].add(text)
        self._write_standings(connection, changes)

    def _folded(
        self, connection: Connection, history: Iterator[Event], replacing: list[Event]
    ) -> Iterator[Changes]:
        """Yields the changes of one user. Adds the events that replace another to ``replacing``."""
        waiting: list[Event] = []
        while batch := list(islice(history, _AT_ONCE)):
            yield noted_cards(batch)
            replacing += [event for event in batch if replaced_by(event) is not None]
            waiting += [event for event in batch if not isinstance(event.payload, EventNoted)]
        yield fold(
            waiting,
            {},
            self._recalled(connection, waiting),
            supersede=self._supersede,
            thresholds=self._thresholds,
        )

    def _recalled(self, connection: Connection, events: Sequence[Event]) -> list[Event]:
        """The events that ``events`` take back, from the log."""
        places = withdrawn_places(events)
        if not places:
            return []
        named = {"partitions": [part for part, _ in places], "positions": [place for _, place in places]}
        return events_of(self._rows(connection, "recalled_events", named))

    def _remarked(self, connection: Connection, events: Sequence[Event]) -> set[Key]:
        """The identities of the statements that ``events`` are remarks on."""
        targets = [(event.user_id, target) for event in events if (target := remarked(event)) is not None]
        if not targets:
            return set()
        named = {"users": [user for user, _ in targets], "targets": [target for _, target in targets]}
        return {
            (row["user_id"], row["identity"]) for row in self._rows(connection, "remarked_statements", named)
        }

    def _known(self, connection: Connection, keys: set[Key]) -> dict[Key, list[Statement]]:
        """The earlier statements of identities, and of all identities that share an event with them."""
        known: dict[Key, list[Statement]] = {}
        wanted, asked = keys, set[Key]()
        while wanted:
            ordered = sorted(wanted)
            asked |= wanted
            named = {
                "users": [user for user, _ in ordered],
                "identities": [identity for _, identity in ordered],
            }
            wanted = set()
            for row in self._rows(connection, "known_statements", named):
                identity = row.pop("identity")
                event = event_of(row)
                if isinstance(event.payload, Erased):
                    continue
                for said in statements_of(event, supersede=self._supersede):
                    key = (event.user_id, said.identity)
                    if said.identity == identity:
                        known.setdefault(key, []).append(said)
                    elif key not in asked:
                        wanted.add(key)
        return known

    def _remarks(self, connection: Connection, events: Sequence[Event]) -> list[Event]:
        """The earlier remarks on statements."""
        said = [event for event in events if not isinstance(event.payload, EventNoted)]
        named = {"users": [event.user_id for event in said], "targets": [event.event_id for event in said]}
        return events_of(self._rows(connection, "known_remarks", named))

    def _connections(self, connection: Connection, events: Sequence[Event]) -> list[Link]:
        """The chains that lead on from the cards that ``events`` connect."""
        links = [
            (event.user_id, event.payload.to_card)
            for event in events
            if isinstance(event.payload, CardsConnected) and event.payload.predicate in CHAINS
        ]
        if not links:
            return []
        named = {
            "users": [user for user, _ in links],
            "cards": [card for _, card in links],
            "predicates": list(CHAINS),
        }
        return connection.execute(self._statement("connections_in_force"), named).fetchall()

    def _replaced(
        self, connection: Connection, events: Sequence[Event], recalled: Sequence[Event]
    ) -> list[Event]:
        """The events whose standing may change, as far as they have a card, and the events that replace them."""
        touched = sorted(standings_touched(events, recalled))
        if not touched:
            return []
        named = {
            "users": [user for user, _ in touched],
            "cards": [card for _, card in touched],
            "partitions": [partition_of(user) for user, _ in touched],
        }
        return events_of(self._rows(connection, "replaced_events", named))

    def _references(self, connection: Connection, events: Sequence[Event]) -> dict[tuple[str, UUID], int]:
        """The cards of references that ``events`` change, each with the number of its terms."""
        cards = {(event.user_id, card) for event in events if (card := reference_id(event)) is not None}
        if not cards:
            return {}
        ordered = sorted(cards)
        named = {"users": [user for user, _ in ordered], "cards": [card for _, card in ordered]}
        return {
            (row["user_id"], row["card_id"]): row["own_terms"]
            for row in self._rows(connection, "reference_terms", named)
        }

    def _rows(self, connection: Connection, name: str, named: dict[str, Any]) -> list[dict[str, Any]]:
        with connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(self._statement(name), named).fetchall()

    def _write(self, connection: Connection, changes: Changes) -> None:
        if changes.cards_gone:
            self._delete_cards(connection, changes)
        said = [(one.event.user_id, one.identity, one.event.event_id) for one in changes.statements_gone]
        for name, columns, gone in (
            ("delete_statements", ("users", "identities", "events"), said),
            (
                "delete_relations",
                ("users", "from_cards", "to_cards", "predicates", "implied"),
                changes.relations_gone,
            ),
            ("delete_arbitrations", ("users", "arbitrations"), changes.arbitrations_gone),
            ("delete_updates", ("users", "cards", "events"), changes.updates_gone),
        ):
            self._delete(connection, name, columns, gone)
        for table, lines in _lines(changes):
            buffer = CopyBuffer(connection, _COPIED[table], self._statement(f"copy_{table}"))
            for text in lines:
                buffer.add(text)
            buffer.flush()
        self._write_standings(connection, changes)
        self._write_aside(connection, changes)
        words = [(user, word) for user, terms in sorted(changes.terms.items()) for word in words_among(terms)]
        if words:
            keys = [word_keys(user, word) for user, word in words]
            connection.execute(
                self._statement("add_words"),
                {
                    "users": [user for user, _ in words],
                    "words": [word for _, word in words],
                    "keys": [term for term, _ in keys],
                    "grams": [as_array(grams) for _, grams in keys],
                },
            )
        if changes.counts:
            connection.execute(
                self._statement("add_counts"),
                {
                    "users": list(changes.counts),
                    "cards": [cards for cards, _ in changes.counts.values()],
                    "terms": [terms for _, terms in changes.counts.values()],
                },
            )
            lessened = [user for user, (cards, _) in changes.counts.items() if cards < 0]
            if lessened:
                connection.execute(self._statement("delete_counts"), {"users": lessened})

    def _write_standings(self, connection: Connection, changes: Changes) -> None:
        """Writes the standings of event cards that are in the table."""
        cards = [card for _, card in sorted(changes.standings.items(), key=lambda item: item[0])]
        if cards:
            connection.execute(
                self._statement("set_standings"),
                {
                    "users": [card.user_id for card in cards],
                    "cards": [card.card_id for card in cards],
                    "statuses": [card.event_status for card in cards],
                    "instants": [card.superseded_at for card in cards],
                    "retracted": [card.retracted for card in cards],
                },
            )

    def _write_aside(self, connection: Connection, changes: Changes) -> None:
        """Writes verifications and modes of event cards, and aliases of tags. The fold reads none of them again."""
        if changes.modes:
            connection.execute(
                self._statement("reclassify_events"),
                {
                    "users": [user for user, _ in changes.modes],
                    "cards": [card for _, card in changes.modes],
                    "modes": list(changes.modes.values()),
                },
            )
        if changes.verified:
            connection.execute(
                self._statement("verify_events"),
                {
                    "users": [user for user, _ in changes.verified],
                    "cards": [card for _, card in changes.verified],
                    "instants": list(changes.verified.values()),
                },
            )
        if changes.aliases:
            connection.execute(
                self._statement("alias_tags"),
                {
                    "users": [user for user, _ in changes.aliases],
                    "aliases": [alias for _, alias in changes.aliases],
                    "tags": [tag for _, _, tag in changes.aliases.values()],
                    "instants": [instant for instant, _, _ in changes.aliases.values()],
                    "events": [event_id for _, event_id, _ in changes.aliases.values()],
                },
            )

    def _delete_cards(self, connection: Connection, changes: Changes) -> None:
        self._delete(connection, "delete_cards", ("users", "kinds", "cards"), changes.cards_gone)

    def _delete(
        self, connection: Connection, name: str, columns: Sequence[str], gone: Iterable[tuple[Any, ...]]
    ) -> None:
        # Sorted, so that two concurrent deletions cannot deadlock.
        if ordered := sorted(gone):
            connection.execute(
                self._statement(name), dict(zip(columns, map(list, zip(*ordered, strict=True)), strict=True))
            )

    def _statement(self, name: str) -> SQL:
        return statement(self.package, name)


def _lines(changes: Changes) -> tuple[tuple[str, Iterator[str]], ...]:
    """The lines to copy into each table whose rows are added and deleted, never updated."""
    return (
        ("cards", card_lines(changes)),
        ("statements", statement_lines(changes)),
        ("relations", relation_lines(changes)),
        ("remarks", remark_lines(changes)),
        ("arbitrations", arbitration_lines(changes)),
        ("updates", update_lines(changes)),
    )
