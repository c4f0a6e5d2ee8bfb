"""``cardlog proposals``: lists ops that prose asked for, and approves or refuses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import REASON, Verbs, argument, option

if TYPE_CHECKING:
    from cardlog_client import types

app = App(
    name="proposals",
    help='With CARDLOG_REFERENCE_PROPOSALS a turn such as "add tea to my list" becomes a proposal. A sure one is '
    "applied at once, any other one waits here.",
)

Status = Literal["waiting", "applied", "approved", "refused", "all"]
_ID = argument("proposal", UUID, "the proposal's id, as listed")


verbs = Verbs(app)


def _line(each: types.Proposal) -> Iterator[str]:
    op = " ".join(f"{name}={value}" for name, value in each["op"].items() if name != "op")
    yield (
        f"{each['proposal_id']}  {each['status']:<8} {each['confidence']:.2f}  {each['kind']}/{each['key']}: "
        f"{each['op']['op']} {op}  ({each['quote']})"
    )


def _approved(done: Mapping[str, object]) -> Iterator[str]:
    yield str(done["rendering"]) if "rendering" in done else f"retracted: {done['content']}"


verbs.pages(
    "list", "list the proposals of a user, the latest first", Client.proposals,
    verbs.options, option("status", Status, "default: waiting", "waiting"),
    items="proposals", lines=_line,
    none=lambda status: "no proposal waits" if status == "waiting" else "no proposals",
)  # fmt: skip
verbs.call(
    "approve", "apply a waiting proposal", Client.approve_proposal, _ID,
    lines=_approved,
)  # fmt: skip
verbs.call(
    "refuse",
    "refuse a waiting proposal; nothing changes",
    Client.refuse_proposal,
    _ID,
    REASON,
    lines="refused",
)
