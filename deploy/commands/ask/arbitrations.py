"""``cardlog arbitrations``: shows conflicts that wait for a verdict, and gives the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args
from uuid import UUID

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.verbs import Verbs, argument, option
from deploy.options import Answer, Flat, Given, OfUser
from events.types.tenancy import DEFAULT_TENANT
from events.types.verdicts import Verdict

if TYPE_CHECKING:
    from cardlog_client import types

Status = Literal["open", "keep_old", "accept_new", "coexist", "withdrawn", "all"]

app = App(
    name="arbitrations",
    help="Some changes of a fact need a decision. Until there is a verdict the old fact stays, and a recall "
    "that finds it reports both values.",
)
verbs = Verbs(app)

Id = Annotated[UUID, Parameter(help="the conflict's id, as listed")]


def _line(conflict: types.Arbitration) -> Iterator[str]:
    about = f"{conflict['entity']} {conflict['concept_key']}"
    yield (
        f"{conflict['arbitration_id']}  {conflict['status']:<10} {conflict['opened_at'][:10]}  {about}: "
        f"{conflict['old_value']} or {conflict['new_value']}? {conflict['reason']}"
    )


verbs.pages(
    "list", "list the conflicts of a user, the latest opened first", Client.arbitrations,
    verbs.options, option("status", Status, "default: open", "open"),
    items="arbitrations", lines=_line,
    none=lambda status: "no conflict waits for a verdict" if status == "open" else "no conflicts",
)  # fmt: skip


@app.command(name="show", help="show one conflict with its evidence")
def run_show(arbitration: Id, /, *, options: Flat[OfUser], client: Given[Client]) -> Answer:
    found = client.arbitration(options.user, str(arbitration))
    return Answer(found, _evidence(found, options))


def _rule(client: Client, user: str, arbitration: str, verdict: Verdict, **more: Any) -> Answer:
    done = client.settle_arbitration(user, arbitration, verdict, **more)
    place = f"{done['partition']}/{done['position']}"
    again = " (it already was)" if done["duplicate"] else ""
    line = f"ruled {verdict}; the verdict is in the log at {place}{again}"
    return Answer({"place": place, "duplicate": done["duplicate"]}, [line])


verbs.call(
    "rule",
    "Settle a conflict: keep the old fact, accept the new one, or say that both are true.\n\n"
    "A verdict is an event of the log and is given once.", _rule,
    argument("arbitration", Id), argument("verdict", Verdict, "what is true"),
    option("reason", str, "the reason, which is recorded", "no reason given", metavar="WHY"),
    option("by", str, "who decides (default: operator)", "operator", metavar="NAME"),
)  # fmt: skip


def _evidence(conflict: types.Arbitration, options: OfUser) -> Iterator[str]:
    yield from _line(conflict)
    for side, value, evidence in (
        ("old", conflict["old_value"], conflict["evidence"]["old"]),
        ("new", conflict["new_value"], conflict["evidence"]["new"]),
    ):
        words = evidence["quote"] or ", ".join(evidence["turn_ids"])
        yield f"    {side}: {value}, said {evidence['said_at']}: {words}"
    if conflict["status"] == "open":
        of_tenant = "" if options.tenant == DEFAULT_TENANT else f"--tenant {options.tenant} "
        yield (
            f"settle it: cardlog arbitrations rule --user {options.user} {of_tenant}{conflict['arbitration_id']} "
            f"{'|'.join(get_args(Verdict))}"
        )
