"""``cardlog context``: prints the prompt blocks for a question."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from cardlog_client import Client
from deploy.commands.ask.answers import show
from deploy.commands.ask.recall import MOST_CARDS, has_cards, nothing_of, refusing
from deploy.options import Flat, Given, Tenant, at_least, between
from events.platform.counting import counted
from events.types.tenancy import DEFAULT_TENANT


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a prompt."""

    user: Annotated[str, Parameter(help="whose memory is asked")]
    tenant: Tenant = DEFAULT_TENANT
    project: Annotated[str | None, Parameter(help="project to ask in; * for all (default: default)")] = None
    k: Annotated[
        int | None,
        Parameter(
            name=["--k", "-k"],
            metavar="N",
            validator=between(1, MOST_CARDS),
            help=f"the most cards to return, 1 to {MOST_CARDS} (default: 5)",
        ),
    ] = None
    budget: Annotated[
        int | None, Parameter(metavar="TOKENS", validator=at_least(1), help="the most tokens of the prompt")
    ] = None
    as_of: Annotated[
        str | None, Parameter(metavar="INSTANT", help="what was true then (ISO 8601 with offset)")
    ] = None
    timezone: Annotated[
        str | None, Parameter(metavar="ZONE", help="IANA time zone of the asker (default: the user's latest)")
    ] = None
    json: Annotated[bool, Parameter(help="print the service's answer as JSON")] = False


def context(
    question: Annotated[str, Parameter(help='what the user says or asks, such as "where do I live?"')],
    /,
    *,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    """Print the prompt of an assistant for a question: rules, cards, alerts and the time."""
    with refusing():
        answer = client.context(
            options.user, question, project_id=options.project, k=options.k, token_budget=options.budget,
            as_of=options.as_of, timezone=options.timezone,
        )  # fmt: skip
    if options.json:
        return show(answer, [], as_json=True)
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
    return 0
