"""A user who tells things on days, which the rules read, and whom the curator curates."""

import random
from datetime import UTC, datetime, timedelta

from events.platform.database import Connection
from events.store import log
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.rules_worker import ExtractorWorker
from ingest.recording.recorder import recorded_event
from projectors.people import PeopleProjector
from tests.support.databases import Place
from tests.support.events.turns import recorded
from tests.support.projectors.folding import fold_live, settings_of

BEGIN = datetime(2025, 1, 6, 10, tzinfo=UTC)
_THINGS = ("dog", "car", "boat", "cello", "flat", "bike", "cat", "guitar", "garden")
_FINE = ("red", "old", "new", "wooden", "small", "loud")
_CITIES = ("Oslo", "Bergen", "Rome", "Milan", "Porto", "Kiel")
_CHINESE = ("狗", "貓", "兔子", "車", "船")


def said(chosen: random.Random) -> str:
    """Returns one turn: about a third states something, and the others are talk."""
    name, thing, city = chosen.choice(("Alex", "Nora")), chosen.choice(_THINGS), chosen.choice(_CITIES)
    return chosen.choice(
        (
            f"{name} has a {thing}.",
            f"{name} has a {chosen.choice(_FINE)} {thing}.",
            f"{name} doesn't have a {thing}.",
            f"小玉有一隻{chosen.choice(_CHINESE)}。",
            f"小玉沒有{chosen.choice(_CHINESE)}。",
            f"I had lunch with {name} in {city}, number {chosen.randrange(10_000)}.",
            f"ok, see you at {chosen.randrange(1, 12)}, {name}!",
            f"今天跟小玉吃了午餐，第{chosen.randrange(10_000)}次。",
            f"The kitchen renovation is at step {chosen.randrange(500)}.",
        )
    )


def tell(connection: Connection, *told: tuple[int, str], user: str = "ada") -> None:
    """Records turns, each with its day, extracts them with the rules, and folds the tables."""
    for number, (day, text) in enumerate(told):
        said_at, turn_id = BEGIN + timedelta(days=day), f"{day}-{number}-{text}"
        turn = recorded(text, turn_id=turn_id, said_at=said_at, timezone="UTC", session_id=f"day {day}")
        log.append(connection, [recorded_event(user, turn)])
    worker = ExtractorWorker(settings_of(connection), RulesExtractor(), lambda: False)
    worker.prepare(connection)
    while worker.step(connection):
        pass
    fold(connection)


def fold(database: Place) -> None:
    fold_live(database)
    fold_live(database, PeopleProjector())


def relations(connection: Connection, user: str = "ada") -> set[tuple[str, str, str]]:
    """Returns the relations of the curator that hold: the words of the later card, the predicate, the earlier words."""
    rows = connection.execute(
        "SELECT f.content, r.predicate, t.content FROM cards.relations r"
        " JOIN cards.cards f ON f.user_id = r.user_id AND f.card_id = r.from_card"
        " JOIN cards.cards t ON t.user_id = r.user_id AND t.card_id = r.to_card"
        " WHERE r.user_id = %s AND r.actor = 'curator' AND NOT r.refused",
        [user],
    )
    return {(later.rstrip("."), predicate, earlier.rstrip(".")) for later, predicate, earlier in rows}
