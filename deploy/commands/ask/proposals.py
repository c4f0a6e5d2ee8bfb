"""``cardlog proposals``: lists ops that prose asked for, and approves or refuses them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.answers import every, show
from deploy.options import Flat, Given, Json, Tenant
from events.types.tenancy import DEFAULT_TENANT

app = App(
    name="proposals",
    help='With CARDLOG_REFERENCE_PROPOSALS a turn such as "add tea to my list" becomes a proposal. A sure one is '
    "applied at once, any other one waits here.",
)

Status = Literal["waiting", "applied", "approved", "refused", "all"]
Id = Annotated[UUID, Parameter(help="the proposal's id, as listed")]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every verb about proposals."""

    user: Annotated[str, Parameter(help="whose proposals are meant")]
    tenant: Tenant = DEFAULT_TENANT
    json: Json = False


@app.command(name="list", help="list the proposals of a user, the latest first")
def run_list(
    *,
    options: Flat[Options],
    status: Annotated[Status, Parameter(help="default: waiting")] = "waiting",
    client: Given[Client],
) -> int:
    found = every(client.proposals, options.user, "proposals", status=status)
    none = "no proposal waits" if status == "waiting" else "no proposals"
    return show(found, [_line(each) for each in found] or [none], as_json=options.json)


@app.command(name="approve", help="apply a waiting proposal")
def run_approve(proposal: Id, /, *, options: Flat[Options], client: Given[Client]) -> int:
    done: Any = client.approve_proposal(options.user, str(proposal))
    line = done["rendering"] if "rendering" in done else f"retracted: {done['content']}"
    return show(done, [line], as_json=options.json)


@app.command(name="refuse", help="refuse a waiting proposal; nothing changes")
def run_refuse(
    proposal: Id,
    /,
    *,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    refused = client.refuse_proposal(options.user, str(proposal), reason=reason)
    return show(refused, ["refused"], as_json=options.json)


def _line(each: Any) -> str:
    op = " ".join(f"{name}={value}" for name, value in each["op"].items() if name != "op")
    return (
        f"{each['proposal_id']}  {each['status']:<8} {each['confidence']:.2f}  {each['kind']}/{each['key']}: "
        f"{each['op']['op']} {op}  ({each['quote']})"
    )
