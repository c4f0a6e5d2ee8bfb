"""Proposals over HTTP: approve or refuse an op or a retraction that prose asked for."""

from fastapi import APIRouter
from pydantic import Field

from events.access.principal import Principal
from events.http.access import Writer, owner_of
from events.http.answering import routes_of
from events.http.body import Body
from events.http.fields import Name, Uuid, Words
from events.resources.references import Reference, RefusedProposal, RetractedCard
from ingest.api.transactions import Sender, Transactions
from ingest.decider import Command
from ingest.references import proposals


class ApproveProposalIn(Body):
    """Applies a proposal."""

    user_id: Name = Field(description="whose proposal this is")


class RefuseProposalIn(ApproveProposalIn):
    """Refuses a proposal."""

    reason: Words | None = None


def proposal_router(transactions: Transactions) -> APIRouter:
    """Returns the routes of proposals."""
    router = routes_of("references")

    @router.post("/v1/proposals/{proposal_id}/accept", summary="Apply an op that prose asked for")
    def approve_proposal(
        proposal_id: Uuid, body: ApproveProposalIn, caller: Writer
    ) -> Reference | RetractedCard:
        owner, command = sent(caller, body)
        outcome = transactions.run(owner, lambda c: proposals.approve(c, owner, proposal_id, command))
        if isinstance(outcome, proposals.Retraction):
            return RetractedCard(
                proposal_id=proposal_id,
                status="approved",
                card_id=outcome.card_id,
                content=outcome.content,
                events=outcome.events,
            )
        return Reference.made_from(outcome.state)

    @router.post("/v1/proposals/{proposal_id}/refuse", summary="Refuse an op that prose asked for")
    def refuse_proposal(proposal_id: Uuid, body: RefuseProposalIn, caller: Writer) -> RefusedProposal:
        owner, command = sent(caller, body)
        transactions.run(owner, lambda c: proposals.refuse(c, owner, proposal_id, body.reason, command))
        return RefusedProposal(proposal_id=proposal_id, status="refused")

    def sent(caller: Principal, body: ApproveProposalIn) -> tuple[str, Command]:
        owner = owner_of(caller, body.user_id, thing="proposal", field="proposal_id")
        return owner, Sender(caller).command(f"user/{body.user_id}")

    return router
