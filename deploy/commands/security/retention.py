"""``cardlog retention``: how long turns are kept, by tenant and mode."""

import sys
from typing import Annotated

from cyclopts import App, Parameter

from deploy.options import Answer, Given, Json, between
from events.platform.counting import counted
from events.platform.database import Connection
from events.platform.settings import Settings
from events.types.tenancy import DEFAULT_TENANT, checked_tenant
from ingest.erasure import retention
from ingest.erasure.erasure import Eraser, ErasureRefusedError
from ingest.erasure.retention import LONGEST_DAYS, OTHER_MODES, Rule
from projectors.registry import derived

app = App(
    name="retention",
    help="Turns are kept for ever, unless a rule names a number of days for their mode. The write service erases older "
    "turns once a day, with everything that was made of them. The rule of the mode * is for all modes without a rule "
    "of their own.",
)

Tenant = Annotated[str, Parameter(help="the tenant (default: default)")]


@app.command(name="list", help="list the rules of every tenant")
def run_list(*, as_json: Json = False, connection: Given[Connection]) -> Answer:
    found = retention.rules(connection)
    lines = map(_line, found) if found else ["there is no rule: every turn is kept"]
    return Answer([rule.document() for rule in found], lines)


def _line(rule: Rule) -> str:
    ran = "never ran" if rule.ran_at is None else f"ran {rule.ran_at:%Y-%m-%d %H:%M:%S}"
    return f"{rule.tenant:<16} {rule.mode:<16} {rule.keep_days:>6} days, {ran}"


@app.command(name="set", help="keep turns of a mode for a number of days")
def run_set(
    days: Annotated[int, Parameter(validator=between(1, LONGEST_DAYS), help="days after a turn was said")],
    /,
    *,
    mode: Annotated[str, Parameter(help="the mode (default: * for every mode without a rule)")] = OTHER_MODES,
    tenant: Tenant = DEFAULT_TENANT,
    connection: Given[Connection],
) -> int:
    retention.declare(connection, Rule(tenant=checked_tenant(tenant), mode=mode, keep_days=days))
    return 0


@app.command(name="remove", help="remove a rule; the turns are then kept")
def run_remove(
    *,
    mode: Annotated[str, Parameter(help="the mode (default: *)")] = OTHER_MODES,
    tenant: Tenant = DEFAULT_TENANT,
    connection: Given[Connection],
) -> int:
    removed = retention.remove(connection, checked_tenant(tenant), mode)
    if not removed:
        print(f"cardlog retention: tenant {tenant} has no rule for the mode {mode}", file=sys.stderr)
    return 0 if removed else 1


@app.command(name="run")
def run_rules(
    *,
    yes: Annotated[bool, Parameter(help="erase; without it the command only counts")] = False,
    tenant: Annotated[str | None, Parameter(help="only the rules of this tenant")] = None,
    as_json: Json = False,
    cardlog: Given[Settings],
    connection: Given[Connection],
) -> Answer | int:
    """Erase what the rules no longer keep, now.

    Without --yes it only counts what would go.
    """
    only = None if tenant is None else checked_tenant(tenant)
    eraser = Eraser(cardlog, derived(cardlog))
    try:
        done = retention.run(eraser, connection, tenant=only, dry_run=not yes, by="cardlog retention")
    except ErasureRefusedError as error:
        print(f"cardlog retention: {error}", file=sys.stderr)
        return 1
    found = [rule.document() | outcome.document() | {"dry_run": not yes} for rule, outcome in done]
    verb = "erased" if yes else "would be erased"
    lines = (
        f"{rule.tenant} {rule.mode}, {rule.keep_days} days: {counted(outcome.counts.get('turns', 0), 'turn')} of "
        f"{counted(len(outcome.users), 'user')} {verb}"
        for rule, outcome in done
    )
    return Answer(found, lines)
