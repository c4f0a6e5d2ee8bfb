"""The problems projector. It folds the events of problems into their present state, one user at a time."""

from collections.abc import Sequence

from events.platform.database import Connection
from events.platform.linger import UNHURRIED_S
from events.problems.problem import TYPES, fold, row_of
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.extraction import CardsWithdrawn
from events.types.problems import PROBLEM_EVENTS
from projectors.generations.projector import Projector


class ProblemsProjector(Projector):
    """Folds the log into ``entries`` and ``problems``.

    An event that names its problem in words may mean another problem once an earlier event is withdrawn. Every change
    therefore folds all problem events of its user again. A user has few of them.
    """

    name = "problems"
    package = "projectors"
    prefix = "problems_"
    types = TYPES
    rest_s = UNHURRIED_S

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        told = [event for event in events if isinstance(event.payload, PROBLEM_EVENTS)]
        withdrawn = [event for event in events if isinstance(event.payload, CardsWithdrawn)]
        changed = dict.fromkeys(event.user_id for event in told)
        with connection.cursor() as cursor:
            if told:
                cursor.executemany(self._statement("add_entry"), [_entry(event) for event in told])
            for event in withdrawn:
                assert isinstance(event.payload, CardsWithdrawn)
                gone = {"user_id": event.user_id, "events": list(event.payload.event_ids)}
                if cursor.execute(self._statement("remove_entries"), gone).rowcount:
                    changed[event.user_id] = None
            for user_id in changed:
                rows = [row_of(each) for each in fold(self._events(connection, user_id)).by_id.values()]
                cursor.execute(self._statement("remove_problems"), {"user_id": user_id})
                if rows:
                    cursor.executemany(self._statement("add_problem"), rows)

    def _events(self, connection: Connection, user_id: str) -> list[Event]:
        """Returns the problem events of a user that the tables hold, in order."""
        named = {"user_id": user_id, "partition": partition_of(user_id)}
        return [log.event_of(row) for row in self._rows(connection, "folded_events", named)]


def _entry(event: Event) -> dict[str, object]:
    return {"user_id": event.user_id, "event_id": event.event_id, "position": event.position}
