"""``cardlog recall``: asks a question from the command line."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import httpx2
from cyclopts import Parameter

from deploy.instance import authorization, find
from deploy.options import Flat, Given, OptionInvalidError, Tenant, between
from events.platform.settings import Settings
from events.types.tenancy import DEFAULT_TENANT, storage_id

MOST_CARDS = 200


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a question."""

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
    as_of: Annotated[
        str | None, Parameter(metavar="INSTANT", help="what was true then (ISO 8601 with offset)")
    ] = None
    known_at: Annotated[
        str | None, Parameter(metavar="INSTANT", help="only what had been recorded by this instant")
    ] = None
    timezone: Annotated[
        str | None, Parameter(metavar="ZONE", help="IANA time zone of the asker (default: the user's latest)")
    ] = None
    mode: Annotated[str | None, Parameter(help="only cards of this mode, such as code or journal")] = None
    explain: Annotated[bool, Parameter(help="explain the answer in tables")] = False
    json: Annotated[bool, Parameter(help="print the service's answer as JSON")] = False


def recall(
    question: Annotated[str, Parameter(help='the question, such as "where do I live?"')],
    /,
    *,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Ask a question and print the cards that answer it, best first."""
    request = {
        "user_id": storage_id(options.tenant, options.user),
        "query": question,
        "project_id": options.project,
        "k": options.k,
        "as_of": options.as_of,
        "known_at": options.known_at,
        "timezone": options.timezone,
        "mode": options.mode,
        "explain": options.explain or None,
    }
    answer = answer_of({name: value for name, value in request.items() if value is not None}, settings, data)
    if options.json:
        sys.stdout.write(json.dumps(answer, ensure_ascii=False) + "\n")
        return 0
    known = True if answer["cards"] else has_cards(str(request["user_id"]), settings, data)
    for line in lines_of(answer) if known else [nothing_of(options.user)]:
        print(line)
    if options.explain:
        from rich.console import Console  # noqa: PLC0415 - only tables need it

        from deploy.commands.ask.explanation import tables_of  # noqa: PLC0415

        console = Console()
        for table in tables_of(answer):
            console.print(table)
    for warning in answer["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    return 0


_OPTIONS = {"token_budget": "--budget", "query": "QUESTION", "user_id": "--user", "project_id": "--project"}


def _option_of(field: str) -> str:
    """Returns the option of the command that gives ``field`` of the request."""
    return _OPTIONS.get(field) or f"--{field.replace('_', '-')}"


def answer_of(
    request: dict[str, Any], settings: Settings, data: Path | None, *, what: str = "recall"
) -> dict[str, Any]:
    """Returns the answer of the running service, or of this process when only a database is set.

    ``what`` is ``recall`` for cards, or ``context`` for the prompt. Raises OptionInvalidError for a value that the
    service refuses, and RuntimeError with the service's reason for anything else.
    """
    url = settings.read_url
    if not url:
        settings, instance = find(settings, data)
        url = "" if instance is None else instance.read_url
    if url:
        try:
            response = httpx2.post(
                f"{url}/v1/{what}", json=request, headers=authorization(settings), timeout=30
            )
        except httpx2.HTTPError as error:
            raise RuntimeError(f"the read service at {url} does not answer: {error}") from None
        document: dict[str, Any] = response.json()
        if response.status_code == 422 and document.get("field"):
            raise OptionInvalidError(f"{_option_of(str(document['field']))} {document['reason']}")
        if response.status_code != 200:
            raise RuntimeError(str(document.get("detail", document)))
        return document
    return asyncio.run(_in_process(request, settings, what))


def nothing_of(user: str) -> str:
    """Returns the sentence about a user without cards."""
    return f"nothing is known about the user {user!r} yet: no card is theirs"


def has_cards(user_id: str, settings: Settings, data: Path | None) -> bool:
    """True when the running service has a card of the user, in any project, or cannot say it."""
    url = settings.read_url
    if not url:
        settings, instance = find(settings, data)
        url = "" if instance is None else instance.read_url
    if not url:
        return True
    try:
        asked = httpx2.QueryParams(user_id=user_id, limit=1)
        response = httpx2.get(f"{url}/v1/cards", params=asked, headers=authorization(settings), timeout=30)
        return response.status_code != 200 or bool(response.json()["cards"])
    except (httpx2.HTTPError, ValueError, LookupError, TypeError):
        return True


async def _in_process(request: dict[str, Any], settings: Settings, what: str) -> dict[str, Any]:
    from pydantic import ValidationError  # noqa: PLC0415 - importing recall takes a second

    from events.resources.resource import Resource, plain  # noqa: PLC0415
    from retrieval.http.read_api import ContextIn, RecallIn, ask_of, for_prompt, prompt_of  # noqa: PLC0415
    from retrieval.http.resources import prompted, recalled  # noqa: PLC0415
    from retrieval.http.wiring import open_recall  # noqa: PLC0415
    from retrieval.pool.connections import open_pool  # noqa: PLC0415

    pool = open_pool(settings, "recall")
    await pool.open(wait=True, timeout=5)
    recall = open_recall(settings, pool)
    try:
        await asyncio.to_thread(recall.warm)
        if what == "context":
            body = ContextIn.model_validate(request)
            asked = for_prompt(ask_of(body), knowledge=settings.knowledge_inject)
            answer: Resource = prompted(prompt_of(await recall.answer(asked), body.token_budget))
        else:
            answer = recalled(await recall.answer(ask_of(RecallIn.model_validate(request))))
        document: dict[str, Any] = plain(answer)
        return document
    except ValidationError as error:
        first = error.errors()[0]
        raise RuntimeError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    finally:
        await recall.close()
        await pool.close()


def lines_of(answer: dict[str, Any]) -> list[str]:
    """Returns the answer as text: one line for each card, with its times and its channels."""
    lines = [
        f"{card['kind']:<9} {card['content']}   [{when_of(card)}; {why_of(card)}]" for card in answer["cards"]
    ]
    return lines or ["nothing is known about that"]


def when_of(card: dict[str, Any]) -> str:
    """Returns the times of a card as text, on the speaker's clock. A plan is marked as one."""
    status = card.get("event_status")
    return f"{status} {card['when']}" if status in ("planned", "cancelled") else str(card["when"])


def why_of(card: dict[str, Any]) -> str:
    """Returns the channels that found a card with their ranks, best first."""
    votes = sorted(card["channels"].items(), key=lambda item: item[1]["rank"])
    return " ".join(f"{name}#{vote['rank']}" for name, vote in votes) or "the words of this session"
