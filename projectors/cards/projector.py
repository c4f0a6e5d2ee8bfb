"""The cards projector: loads what the fold must know, folds, writes the difference."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.rows import dict_row

from events.envelope import Event
from events.log import Connection, event_of
from events.sql import statement
from projectors.cards.card import COLUMNS
from projectors.cards.fold import Changes, Key, fold, keys_touched
from projectors.cards.statement import Statement, statements_of
from projectors.text.grams import gram_keys
from projectors.text.terms import term_key

_PACKAGE = "projectors.cards"


class CardsProjector:
    """Folds the log into ``cards``, ``relations`` and what belongs to them. See ``sql/tables.sql``."""

    name = "cards"
    batch_partitions = 64

    def __init__(self, *, supersede: bool = True) -> None:
        self._supersede = supersede

    def create_tables(self, connection: Connection) -> None:
        connection.execute(statement(_PACKAGE, "tables"))

    def create_indexes(self, connection: Connection) -> None:
        connection.execute(statement(_PACKAGE, "indexes"))

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        """Fold ``events`` into the tables of the schema on the search path, inside the caller's transaction."""
        known = self._known(connection, keys_touched(events, supersede=self._supersede))
        self._write(connection, fold(events, known, supersede=self._supersede))

    def _known(self, connection: Connection, keys: set[Key]) -> dict[Key, list[Statement]]:
        if not keys:
            return {}
        ordered = sorted(keys)
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(
                statement(_PACKAGE, "known_statements"),
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
        with connection.cursor() as cursor:
            if changes.cards_gone:
                gone = sorted(changes.cards_gone)
                cursor.execute(
                    statement(_PACKAGE, "delete_cards"),
                    {
                        "users": [key[0] for key in gone],
                        "kinds": [key[1] for key in gone],
                        "cards": [key[2] for key in gone],
                    },
                )
            if changes.cards_put:
                with cursor.copy(statement(_PACKAGE, "copy_cards")) as copy:
                    for _, row in sorted(changes.cards_put.items()):
                        copy.write_row([row[column] for column in COLUMNS])
            if changes.statements:
                with cursor.copy(statement(_PACKAGE, "copy_statements")) as copy:
                    for said in changes.statements:
                        event = said.event
                        copy.write_row(
                            (event.user_id, said.identity, event.event_id, event.partition, event.position)
                        )
            if changes.relations_gone:
                relations = sorted(changes.relations_gone)
                cursor.execute(
                    statement(_PACKAGE, "delete_relations"),
                    {
                        "users": [key[0] for key in relations],
                        "from_cards": [key[1] for key in relations],
                        "to_cards": [key[2] for key in relations],
                        "predicates": [key[3] for key in relations],
                    },
                )
            if changes.relations_put:
                with cursor.copy(statement(_PACKAGE, "copy_relations")) as copy:
                    for key, values in sorted(changes.relations_put.items()):
                        copy.write_row((*key, *values.values()))
            if changes.words:
                words = sorted(changes.words)
                cursor.execute(
                    statement(_PACKAGE, "add_words"),
                    {
                        "users": [user for user, _ in words],
                        "words": [word for _, word in words],
                        "keys": [term_key(user, word) for user, word in words],
                        "grams": [as_array(gram_keys(user, word)) for user, word in words],
                    },
                )
            if changes.counts:
                cursor.execute(
                    statement(_PACKAGE, "add_counts"),
                    {
                        "users": list(changes.counts),
                        "cards": [cards for cards, _ in changes.counts.values()],
                        "terms": [terms for _, terms in changes.counts.values()],
                    },
                )


def as_array(keys: Sequence[int]) -> str:
    """An array literal: unnest flattens nested arrays, so each word's keys travel as text."""
    return "{" + ",".join(map(str, keys)) + "}"
