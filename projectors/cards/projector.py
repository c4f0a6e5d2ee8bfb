"""The cards projector: loads what the fold needs, folds, and writes the difference."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from uuid import UUID

from events.people.judgement import TYPES as PERSON_TYPES
from events.platform.database import Connection
from events.store.log import event_of, events_of
from events.types.cards import EventNoted
from events.types.envelope import Event, partition_of
from events.types.references import REFERENCE_TYPES, reference_id
from events.types.relations import CardsConnected
from events.types.tombstones import Erased
from projectors.cards.arbitration import Thresholds
from projectors.cards.connections import CHAINS, Link
from projectors.cards.copy_rows import COLUMNS, lines_of, relation_lines, word_keys, word_lines, words_among
from projectors.cards.event_standing import standings_touched
from projectors.cards.fold import (
    Changes,
    fold,
    keys_touched,
    noted_cards,
    remarked,
    replacements_of,
    withdrawn_places,
)
from projectors.cards.statement import Key, Statement, chain_in, statements_of
from projectors.cards.subjects import Subjects, Tie, Told
from projectors.generations.copy_format import CopyBuffer, as_array, line
from projectors.generations.projector import AT_ONCE, Projector, Rows, columns

_COPIED = {
    "cards": "cards",
    "statements": "statements",
    "relations": "relations",
    "remarks": "remarks",
    "arbitrations": "arbitrations",
    "updates": "card_update_log",
    "words": "words",
    "counts": "card_counts",
    "person_events": "person_events",
}
"""The table of each kind of copied rows."""


class CardsProjector(Projector):
    """Folds the log into the tables of ``tables.sql``."""

    name = "cards"
    package = "projectors.cards"
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
            "ConceptPinned",
            *PERSON_TYPES,
            *REFERENCE_TYPES,
        )
    )

    def __init__(self, *, supersede: bool = True, thresholds: Thresholds | None = None) -> None:
        self._supersede = supersede
        self._thresholds = thresholds or Thresholds()

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        """Folds ``events`` into the tables of the schema on the search path, in the transaction of the caller."""
        self._write(connection, self.changes(connection, events))

    def changes(self, connection: Connection, events: Sequence[Event]) -> Changes:
        """Returns what :meth:`project` would write. Writes nothing."""
        recalled = self._recalled(connection, events)
        told = Told()
        told.add(events)
        told.add(recalled, -1)
        subjects = self._subjects(connection, told)
        keys = keys_touched(events, supersede=self._supersede, subjects=subjects)
        keys |= self._remarked(connection, events, recalled)
        keys |= self._moved(connection, subjects)
        known = self._known(connection, keys, subjects)
        said = [one.event for statements in known.values() for one in statements]
        said += [event for event in events if not isinstance(event.payload, EventNoted)]
        replaced = self._replaced(connection, events, recalled)
        changes = fold(
            events,
            known,
            recalled,
            subjects=subjects,
            remarks=self._remarks(connection, [*said, *replaced]) if keys or replaced else (),
            connections=self._connections(connection, events),
            replaced=replaced,
            references=self._references(connection, events),
            supersede=self._supersede,
            thresholds=self._thresholds,
        )
        changes.told(told, recalled)
        return changes

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        """Folds whole users, one after the other, into empty tables.

        Event cards are written as they are read. The other cards of a user are written after all events of the user,
        because a late statement can change an early card. Events that replace another are applied some hundred at a
        time, to the cards in the table. Memory holds the statements of one user and a few megabytes of lines.
        """
        buffers = {name: self._buffer(connection, name) for name in _COPIED}
        aside: list[Changes] = []
        ties: Counter[Tie] = Counter()
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
                for table, lines in lines_of(changes):
                    for text in lines:
                        buffers[table].add(text)
                spoken |= changes.terms.get(user_id, set())
                for more_cards, more_terms in changes.counts.values():
                    number, terms = number + more_cards, terms + more_terms
                if changes.aliases:
                    aside.append(changes)
                ties.update(changes.ties)
            buffers["words"].add(word_lines(user_id, spoken))
            if number:
                buffers["counts"].add(line((user_id, number, terms)))
            replacing += [event for event in own if event.event_id not in gone]
            if len(replacing) >= AT_ONCE:
                self._load_replacements(connection, buffers, replacing)
                replacing = []
        self._load_replacements(connection, buffers, replacing)
        for buffer in buffers.values():
            buffer.flush()
        for changes in aside:
            self._write_aliases(connection, changes)
        self._write_ties(connection, ties)

    def forget(
        self,
        connection: Connection,
        storage_id: str,
        event_ids: Sequence[UUID] | None,
        remaining: Iterable[Event],
    ) -> None:
        """Forgets as :class:`Projector`, unless the tables hold nothing of the events."""
        if event_ids is not None:
            named = {"user_id": storage_id, "events": list(event_ids)}
            if not self._rows(connection, "folded", named)[0]["folded"]:
                return
        super().forget(connection, storage_id, event_ids, remaining)

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
        """Yields the changes of one user. Adds the events that change the standing of another to ``replacing``."""
        waiting: list[Event] = []
        told = Told()
        while batch := list(islice(history, AT_ONCE)):
            told.add(batch)
            yield noted_cards(batch)
            replacing += [event for event in batch if standings_touched([event])]
            waiting += [event for event in batch if not isinstance(event.payload, EventNoted)]
        recalled = self._recalled(connection, waiting)
        told.add(recalled, -1)
        changes = fold(
            waiting,
            {},
            recalled,
            subjects=Subjects(told.subjects, told.chains()),
            supersede=self._supersede,
            thresholds=self._thresholds,
        )
        changes.told(told, recalled)
        yield changes

    def _recalled(self, connection: Connection, events: Sequence[Event]) -> list[Event]:
        places = withdrawn_places(events)
        return events_of(self._found(connection, "recalled_events", ("partitions", "positions"), places))

    def _subjects(self, connection: Connection, told: Told) -> Subjects:
        """Whose facts the states of a batch are about, by what the tables and the batch tell."""
        people = sorted(told.people())
        before = Told()
        places: list[tuple[int, int]] = []
        for row in self._found(connection, "connected_people", ("users", "people"), people):
            if row["position"] is None:
                before.ties[row["user_id"], row["alone"], row["tied"], row["kin"]] = row["mentions"]
            else:
                places.append((row["partition"], row["position"]))
        before.add(events_of(self._found(connection, "recalled_events", ("partitions", "positions"), places)))
        after = before.with_more(told)
        earlier, chains = before.chains(), after.chains()
        moved = {each for each in earlier.keys() | chains.keys() if earlier.get(each) != chains.get(each)}
        return Subjects(told.subjects, chains, frozenset(moved))

    def _moved(self, connection: Connection, subjects: Subjects) -> set[Key]:
        """The identities of the statements about people whose chains are others now."""
        rows = self._found(connection, "statements_about", ("users", "people"), sorted(subjects.moved))
        return {(row["user_id"], row["identity"]) for row in rows}

    def _remarked(
        self, connection: Connection, events: Sequence[Event], recalled: Sequence[Event]
    ) -> set[Key]:
        """The identities of the statements that ``events`` are remarks on or take back."""
        targets = [(event.user_id, target) for event in events if (target := remarked(event)) is not None]
        targets += [
            (event.user_id, event.event_id) for event in recalled if not isinstance(event.payload, EventNoted)
        ]
        rows = self._found(connection, "remarked_statements", ("users", "targets"), targets)
        return {(row["user_id"], row["identity"]) for row in rows}

    def _known(
        self, connection: Connection, keys: set[Key], subjects: Subjects
    ) -> dict[Key, list[Statement]]:
        """The earlier statements of identities, and of all identities that share an event with them or get them."""
        known: dict[Key, list[Statement]] = {}
        wanted, asked = keys, set[Key]()
        while wanted:
            asked |= wanted
            rows = self._found(connection, "known_statements", ("users", "identities"), sorted(wanted))
            wanted = set()
            for row in rows:
                identity, person = row.pop("identity"), row.pop("person")
                event = event_of(row)
                if isinstance(event.payload, Erased):
                    continue
                for said in statements_of(
                    event, supersede=self._supersede, chain=chain_in(identity), person=person
                ):
                    key = (event.user_id, said.identity)
                    if said.identity == identity:
                        known.setdefault(key, []).append(said)
                        key = (event.user_id, subjects.now(said).identity)
                    if key not in asked:
                        wanted.add(key)
        return known

    def _remarks(self, connection: Connection, events: Sequence[Event]) -> list[Event]:
        said = [(event.user_id, event.event_id) for event in events]
        return events_of(self._found(connection, "known_remarks", ("users", "targets"), said))

    def _connections(self, connection: Connection, events: Sequence[Event]) -> list[Link]:
        """The chains that lead on from the cards that ``events`` connect."""
        links = [
            (event.user_id, event.payload.to_card)
            for event in events
            if isinstance(event.payload, CardsConnected) and event.payload.predicate in CHAINS
        ]
        if not links:
            return []
        named = columns(("users", "cards"), links) | {"predicates": list(CHAINS)}
        return connection.execute(self._statement("connections_in_force"), named).fetchall()

    def _replaced(
        self, connection: Connection, events: Sequence[Event], recalled: Sequence[Event]
    ) -> list[Event]:
        """The events whose standing may change, as far as they have a card, and the events that replace them."""
        touched = sorted(standings_touched(events, recalled))
        places = [(user, card, partition_of(user)) for user, card in touched]
        return events_of(self._found(connection, "replaced_events", ("users", "cards", "partitions"), places))

    def _references(self, connection: Connection, events: Sequence[Event]) -> dict[tuple[str, UUID], int]:
        """The cards of references that ``events`` change, each with the number of its terms."""
        cards = {(event.user_id, card) for event in events if (card := reference_id(event)) is not None}
        rows = self._found(connection, "reference_terms", ("users", "cards"), sorted(cards))
        return {(row["user_id"], row["card_id"]): row["own_terms"] for row in rows}

    def _found(
        self, connection: Connection, name: str, names: Sequence[str], wanted: Sequence[tuple[object, ...]]
    ) -> Rows:
        """Returns the rows of a statement about ``wanted``. About nothing there are none."""
        return self._rows(connection, name, columns(names, wanted)) if wanted else []

    def _write(self, connection: Connection, changes: Changes) -> None:
        if changes.cards_gone:
            self._delete_cards(connection, changes)
        said = [(one.event.user_id, one.identity, one.event.event_id) for one in changes.statements_gone]
        # Sorted, so that two concurrent deletions cannot deadlock.
        for name, names, gone in (
            ("delete_person_events", ("users", "events"), changes.person_events_gone),
            ("delete_statements", ("users", "identities", "events"), said),
            (
                "delete_relations",
                ("users", "from_cards", "to_cards", "predicates", "implied"),
                changes.relations_gone,
            ),
            ("delete_arbitrations", ("users", "arbitrations"), changes.arbitrations_gone),
            ("delete_updates", ("users", "cards", "events"), changes.updates_gone),
        ):
            self._execute(connection, name, names, sorted(gone))
        for table, lines in lines_of(changes):
            buffer = self._buffer(connection, table)
            for text in lines:
                buffer.add(text)
            buffer.flush()
        self._write_standings(connection, changes)
        self._write_aliases(connection, changes)
        self._write_ties(connection, changes.ties)
        words = []
        for user, terms in sorted(changes.terms.items()):
            for word in words_among(terms):
                key, grams = word_keys(user, word)
                words.append((user, word, key, as_array(grams)))
        self._execute(connection, "add_words", ("users", "words", "keys", "grams"), words)
        counts = [(user, cards, terms) for user, (cards, terms) in changes.counts.items()]
        self._execute(connection, "add_counts", ("users", "cards", "terms"), counts)
        lessened = [(user,) for user, cards, _ in counts if cards < 0]
        self._execute(connection, "delete_counts", ("users",), lessened)

    def _write_standings(self, connection: Connection, changes: Changes) -> None:
        standings = [
            (
                user,
                card_id,
                card.event_status,
                card.last_verified,
                card.mode,
                card.superseded_at,
                card.retracted,
            )
            for (user, _, card_id), card in sorted(changes.standings.items(), key=lambda item: item[0])
        ]
        names = ("users", "cards", "statuses", "verified", "modes", "instants", "retracted")
        self._execute(connection, "set_standings", names, standings)

    def _write_ties(self, connection: Connection, ties: Mapping[Tie, int]) -> None:
        """Adds differences to the counts of ties. A tie that no card gives any more has no row."""
        rows = [(*tie, number) for tie, number in sorted(ties.items()) if number]
        names = ("users", "alone", "tied", "kin", "mentions")
        self._execute(connection, "add_ties", names, rows)
        self._execute(connection, "delete_ties", names[:3], [row[:3] for row in rows if row[-1] < 0])

    def _write_aliases(self, connection: Connection, changes: Changes) -> None:
        aliases = [(*alias, *word) for alias, word in changes.aliases.items()]
        self._execute(connection, "alias_tags", ("users", "aliases", "instants", "events", "tags"), aliases)

    def _delete_cards(self, connection: Connection, changes: Changes) -> None:
        self._execute(connection, "delete_cards", ("users", "kinds", "cards"), sorted(changes.cards_gone))

    def _buffer(self, connection: Connection, name: str) -> CopyBuffer:
        columns = COLUMNS.get(name, ())
        copy = self._statement("copy_rows" if columns else f"copy_{name}")
        return CopyBuffer(connection, _COPIED[name], copy, columns)

    def _execute(
        self, connection: Connection, name: str, names: Sequence[str], rows: Sequence[tuple[object, ...]]
    ) -> None:
        """Runs a statement on ``rows``, unless there are none."""
        if rows:
            connection.execute(self._statement(name), columns(names, rows))
