"""Rules of retention: how long turns are kept, by tenant and mode. Older turns are erased once a day."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from psycopg.rows import class_row

from events.platform.database import Connection, statement
from ingest.erasure.erasure import Eraser, Terms, users_of
from ingest.erasure.subjects import Outcome, erase_before

OTHER_MODES = "*"
"""The rule of every mode without a rule of its own."""
LONGEST_DAYS = 36_500

_PACKAGE = "ingest.erasure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Turns of ``mode`` are kept for ``keep_days`` days after they were said. ``ran_at`` is the last erasure."""

    tenant: str
    mode: str
    keep_days: int
    ran_at: datetime | None = None

    def document(self) -> dict[str, object]:
        return asdict(self) | {"ran_at": None if self.ran_at is None else self.ran_at.isoformat()}


def rules(connection: Connection, tenant: str | None = None) -> list[Rule]:
    """Returns the rules of a tenant, or of all tenants for None."""
    with connection.cursor(row_factory=class_row(Rule)) as cursor:
        return cursor.execute(statement(_PACKAGE, "retention_rules"), {"tenant": tenant}).fetchall()


def declare(connection: Connection, rule: Rule) -> None:
    """Adds a rule, or changes the rule of this tenant and mode."""
    connection.execute(
        statement(_PACKAGE, "set_retention"),
        {"tenant": rule.tenant, "mode": rule.mode, "keep_days": rule.keep_days},
    )


def remove(connection: Connection, tenant: str, mode: str) -> bool:
    """Removes a rule. Returns False when there is none."""
    names = {"tenant": tenant, "mode": mode}
    return connection.execute(statement(_PACKAGE, "remove_retention"), names).rowcount > 0


def run(
    eraser: Eraser, connection: Connection, *, tenant: str | None = None, dry_run: bool = False, by: str
) -> list[tuple[Rule, Outcome]]:
    """Erases the turns that the rules no longer keep, or counts them. Returns the outcome of each rule."""
    declared = rules(connection, tenant)
    terms = Terms(by=by, reason="retention", dry_run=dry_run)
    done: list[tuple[Rule, Outcome]] = []
    for rule in declared:
        own = frozenset(other.mode for other in declared if other.tenant == rule.tenant) - {OTHER_MODES}
        outcome = erase_before(
            eraser,
            connection,
            datetime.now(UTC) - timedelta(days=rule.keep_days),
            users_of(connection, rule.tenant),
            terms,
            mode=None if rule.mode == OTHER_MODES else rule.mode,
            without=own if rule.mode == OTHER_MODES else frozenset(),
        )
        done.append((rule, outcome))
    if not dry_run:
        connection.execute(statement(_PACKAGE, "retention_ran"), {"tenant": tenant})
    return done


def run_when_due(eraser: Eraser, connection: Connection) -> list[tuple[Rule, Outcome]]:
    """Runs all rules when a day has passed. Of several processes, one runs them."""
    if connection.execute(statement(_PACKAGE, "claim_retention")).rowcount == 0:
        return []
    return run(eraser, connection, by="retention")
