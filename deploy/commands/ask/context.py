"""``cardlog context``: prints the prompt blocks for a question."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from cardlog_client import Client
from deploy.answer import Answer
from deploy.commands.ask.recall import AsJson, AsOf, Most, Project, Zone, has_cards, nothing_of, refusing
from deploy.options import Flat, Given, Tenant, at_least
from events.platform.counting import counted
from events.types.tenancy import DEFAULT_TENANT


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a prompt."""

    user: Annotated[str, Parameter(help="whose memory is asked")]
    tenant: Tenant = DEFAULT_TENANT
    project: Project = None
    k: Most = None
    budget: Annotated[
        int | None, Parameter(metavar="TOKENS", validator=at_least(1), help="the most tokens of the prompt")
    ] = None
    as_of: AsOf = None
    timezone: Zone = None
    json: AsJson = False


def context(
    question: Annotated[str, Parameter(help='what the user says or asks, such as "where do I live?"')],
    /,
    *,
    options: Flat[Options],
    client: Given[Client],
) -> Answer:
    """Print the prompt of an assistant for a question: rules, cards, alerts and the time."""
    with refusing():
        answer = client.context(
            options.user, question, project_id=options.project, k=options.k, token_budget=options.budget,
            as_of=options.as_of, timezone=options.timezone,
        )  # fmt: skip
    if options.json:
        return Answer(answer, ())
    sys.stdout.write(answer["text"])
    print(
        f"{counted(answer['tokens'], 'token')}, {counted(len(answer['cards']), 'card')}, "
        f"{len(answer['left_out'])} left out",
        file=sys.stderr,
    )
    if not answer["cards"] and not has_cards(client, options.user):
        print(nothing_of(options.user), file=sys.stderr)
    for warning in answer["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    return Answer(answer, ())
