"""The present value is read without the history, whatever the number of versions is."""

import json
from datetime import UTC, datetime

from events.platform.database import Connection
from events.references.kinds.registry import BUILT_IN
from events.references.owners import stream_of
from events.references.reference_log import STATE, state_parameters
from events.types.references import ReferenceName
from events.types.tenancy import DEFAULT_TENANT, storage_id
from ingest.decider import Command
from ingest.references import reference_commands
from ingest.references.reference_commands import ReferenceStream
from tests.support.projectors.plans import rows_read

VERSIONS = 200
NAME = ReferenceName(kind="variable", key="stack", project_id=None, team_id=None)


def test_the_present_value_is_read_without_the_history(connection: Connection) -> None:
    owner, kind = storage_id(DEFAULT_TENANT, "ada"), BUILT_IN["variable"]
    stream = ReferenceStream(connection, NAME, Command(owner=owner, actor="user/ada", at=datetime.now(UTC)))
    with connection.transaction():
        reference_commands.create(stream, kind, None, "session")
        for number in range(VERSIONS):
            op = {"op": "set", "path": "/count", "value": number}
            reference_commands.apply(stream, kind, op)
    explained = b"EXPLAIN (ANALYZE, FORMAT JSON) " + STATE.as_bytes(connection)
    row = connection.execute(explained, state_parameters(owner, stream_of(NAME))).fetchone()
    assert row is not None
    [found] = row[0] if isinstance(row[0], list) else json.loads(row[0])
    assert rows_read(found["Plan"]) < VERSIONS / 4
