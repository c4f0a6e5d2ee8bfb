"""The references projector. It folds the events of references into their present values."""

from collections.abc import Sequence

from events.platform.database import Connection
from events.platform.linger import UNHURRIED_S
from events.references.reference import TYPES, Reference, folded, reference_of, row_of
from events.types.envelope import Event
from events.types.json_values import json_text
from events.types.references import (
    ReferenceKindDeclared,
    ReferenceProposalAccepted,
    ReferenceProposalRefused,
    ReferenceProposed,
    TeamMemberAdded,
    TeamMemberRemoved,
)
from events.types.tenancy import storage_id, tenant_of
from projectors.generations.projector import Projector, columns

_OTHERS = (
    ReferenceProposed,
    ReferenceProposalAccepted,
    ReferenceProposalRefused,
    ReferenceKindDeclared,
    TeamMemberAdded,
    TeamMemberRemoved,
)


class ReferencesProjector(Projector):
    """Folds the log into ``objects``, ``proposals``, ``members`` and ``kinds``."""

    name = "references"
    package = "projectors"
    prefix = "references_"
    types = TYPES | {cls.__name__ for cls in _OTHERS}
    rest_s = UNHURRIED_S  # a read takes the present value from the log, so the tables need not follow each op

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        ours = [event for event in events if event.type in TYPES]
        objects: dict[tuple[str, str], Reference | None] = {**self._present(connection, ours)}
        for event in ours:
            place = (event.user_id, event.stream)
            objects[place] = folded(event, objects.get(place))
        with connection.cursor() as cursor:
            if ours:
                changed = dict.fromkeys((event.user_id, event.stream) for event in ours)
                rows = [row_of(found) for place in changed if (found := objects[place]) is not None]
                if rows:
                    cursor.executemany(self._statement("put_object"), rows)
            for event in events:
                if isinstance(event.payload, _OTHERS):
                    name, values = _row(event)
                    cursor.execute(self._statement(name), values)

    def _present(self, connection: Connection, events: Sequence[Event]) -> dict[tuple[str, str], Reference]:
        """Returns the references that the events continue, by owner and stream."""
        places = list(dict.fromkeys((event.user_id, event.stream) for event in events))
        if not places:
            return {}
        rows = self._rows(connection, "present_objects", columns(("users", "streams"), places))
        found = map(reference_of, rows)
        return {(each.owner, each.stream): each for each in found}


def _row(event: Event) -> tuple[str, dict[str, object]]:
    """Returns the statement and the values of an event that changes another row than a reference."""
    payload = event.payload
    base: dict[str, object] = {"user_id": event.user_id, "at": event.recorded_at}
    match payload:
        case ReferenceProposed():
            return "add_proposal", base | {
                "proposal_id": event.event_id,
                "kind": payload.name.kind,
                "key": payload.name.key,
                "project_id": payload.name.project_id,
                "team_id": payload.name.team_id,
                "op": json_text(payload.op),
                "confidence": payload.confidence,
                "quote": payload.quote,
                "turn_ids": list(payload.turn_ids),
                "status": "applied" if payload.applied else "waiting",
                "proposed_at": event.recorded_at,
                "position": event.position,
            }
        case ReferenceProposalAccepted() | ReferenceProposalRefused():
            status = "approved" if isinstance(payload, ReferenceProposalAccepted) else "refused"
            return "decide_proposal", base | {
                "proposal_id": payload.proposal_id,
                "status": status,
                "by": payload.by,
            }
        case TeamMemberAdded():
            member = storage_id(tenant_of(event.user_id), payload.member)
            return "put_member", base | {"member": member, "team_id": payload.team_id}
        case TeamMemberRemoved():
            return "remove_member", base | {"member": storage_id(tenant_of(event.user_id), payload.member)}
        case _:
            return "put_kind", base | {
                "kind": payload.kind,
                "description": payload.description,
                "schema": json_text(payload.schema),
                "initial": json_text(payload.initial),
            }
