"""The cards projector: loads what the fold must know, folds, writes the difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from psycopg.rows import dict_row
from psycopg.sql import SQL

from events.envelope import Event
from events.log import Connection, event_of
from events.sql import statement
from events.types.cards import EventNoted
from projectors.cards.fold import Changes, Key, fold, keys_touched, withdrawn_places
from projectors.cards.lines import (
    card_lines,
    relation_lines,
    statement_lines,
    word_keys,
    word_lines,
    words_among,
)
from projectors.cards.statement import Statement, statements_of
from projectors.copying import CopyBuffer, as_array, line

_INDEXES = (
    "index_card_terms", "index_words", "index_card_pairs", "index_event_cards", "index_state_cards", "index_relations",
    "index_statements",
)  # fmt: skip
_AT_ONCE = 500


class CardsProjector:
    """Folds the log into ``cards``, ``relations`` and what belongs to them. See ``sql/tables.sql``."""

    name = "cards"
    package = "projectors.cards"
    batch_partitions = 64
    types = frozenset(
        (
            "StateAsserted",
            "EventNoted",
            "KnowledgeLearned",
            "CardsWithdrawn",
            "CardsConnected",
            "ConnectionWithdrawn",
        )
    )

    def __init__(self, *, supersede: bool = True) -> None:
        self._supersede = supersede

    def create_tables(self, connection: Connection) -> None:
        connection.execute(self._statement("tables"))

    def create_indexes(self, connection: Connection) -> None:
        for step in self.index_steps():
            connection.execute(step)

    def index_steps(self) -> list[SQL]:
        return [self._statement(name) for name in _INDEXES]

    def analyze_steps(self) -> list[SQL]:
        return [self._statement(name) for name in ("analyze_cards", "analyze_others")]

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        """Fold ``events`` into the tables of the schema on the search path, inside the caller's transaction."""
        self._write(connection, self.changes(connection, events))

    def changes(self, connection: Connection, events: Sequence[Event]) -> Changes:
        """What :meth:`project` would write; changes nothing."""
        recalled = self._recalled(connection, events)
        known = self._known(connection, keys_touched(events, recalled, supersede=self._supersede))
        return fold(events, known, recalled, supersede=self._supersede)

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        """Fold whole users, one after the other, into empty tables: the same fold, with nothing known before.

        What happened is written as it is read, the rest of a user when all of it was read, for a late word
        can change an early card. So memory holds one user's statements, and a few megabytes of lines.
        """
        cards, statements, relations, words, counts = (
            CopyBuffer(connection, self._statement(f"copy_{table}"))
            for table in ("cards", "statements", "relations", "words", "counts")
        )
        for user_id, history in groupby(events, key=lambda event: event.user_id):
            spoken: set[str] = set()
            number, terms = 0, 0
            for changes in self._folded(connection, history):
                if changes.cards_gone:
                    # Taken back after it was written: what happened is not held until the user is done.
                    cards.flush()
                    self._delete_cards(connection, changes)
                for text in card_lines(changes):
                    cards.add(text)
                for text in statement_lines(changes):
                    statements.add(text)
                for text in relation_lines(changes):
                    relations.add(text)
                spoken |= changes.terms.get(user_id, set())
                for more_cards, more_terms in changes.counts.values():
                    number, terms = number + more_cards, terms + more_terms
            for text in word_lines(user_id, spoken):
                words.add(text)
            if number:
                counts.add(line((user_id, number, terms)))
        for buffer in (cards, statements, relations, words, counts):
            buffer.flush()

    def _folded(self, connection: Connection, history: Iterator[Event]) -> Iterator[Changes]:
        waiting: list[Event] = []
        while batch := list(islice(history, _AT_ONCE)):
            yield fold([event for event in batch if isinstance(event.payload, EventNoted)], {})
            waiting += [event for event in batch if not isinstance(event.payload, EventNoted)]
        yield fold(waiting, {}, self._recalled(connection, waiting), supersede=self._supersede)

    def _recalled(self, connection: Connection, events: Sequence[Event]) -> list[Event]:
        """The events that ``events`` take back, as they stand in the log."""
        places = withdrawn_places(events)
        if not places:
            return []
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(
                self._statement("recalled_events"),
                {"partitions": [part for part, _ in places], "positions": [place for _, place in places]},
            ).fetchall()
        return [event_of(row) for row in rows]

    def _known(self, connection: Connection, keys: set[Key]) -> dict[Key, list[Statement]]:
        if not keys:
            return {}
        ordered = sorted(keys)
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(
                self._statement("known_statements"),
                {"users": [user for user, _ in ordered], "identities": [identity for _, identity in ordered]},
            ).fetchall()
        known: dict[Key, list[Statement]] = {}
        for row in rows:
            identity = row.pop("identity")
            event = event_of(row)
            for said in statements_of(event, supersede=self._supersede):
                if said.identity == identity:
                    known.setdefault((event.user_id, identity), []).append(said)
        return known

    def _write(self, connection: Connection, changes: Changes) -> None:
        if changes.cards_gone:
            self._delete_cards(connection, changes)
        if changes.statements_gone:
            connection.execute(
                self._statement("delete_statements"),
                {
                    "users": [said.event.user_id for said in changes.statements_gone],
                    "identities": [said.identity for said in changes.statements_gone],
                    "events": [said.event.event_id for said in changes.statements_gone],
                },
            )
        if changes.relations_gone:
            relations = sorted(changes.relations_gone)
            connection.execute(
                self._statement("delete_relations"),
                {
                    "users": [key[0] for key in relations],
                    "from_cards": [key[1] for key in relations],
                    "to_cards": [key[2] for key in relations],
                    "predicates": [key[3] for key in relations],
                    "implied": [key[4] for key in relations],
                },
            )
        for table, lines in (
            ("cards", card_lines(changes)),
            ("statements", statement_lines(changes)),
            ("relations", relation_lines(changes)),
        ):
            buffer = CopyBuffer(connection, self._statement(f"copy_{table}"))
            for text in lines:
                buffer.add(text)
            buffer.flush()
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

    def _delete_cards(self, connection: Connection, changes: Changes) -> None:
        gone = sorted(changes.cards_gone)
        connection.execute(
            self._statement("delete_cards"),
            {
                "users": [key[0] for key in gone],
                "kinds": [key[1] for key in gone],
                "cards": [key[2] for key in gone],
            },
        )

    def _statement(self, name: str) -> SQL:
        return statement(self.package, name)
