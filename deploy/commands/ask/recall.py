"""``cardlog recall`` asks a question, and ``cardlog context`` prints the prompt blocks for one."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from cardlog_client import CardlogError, Client
from deploy.options import Answer, File, Flat, Given, OptionInvalidError, Tenant, Zone, at_least, between
from deploy.security.private_files import reading
from events.platform.counting import counted
from events.types.json_values import JsonObject
from events.types.tenancy import DEFAULT_TENANT

MOST_CARDS = 200
_BATCH = 32


Project = Annotated[str | None, Parameter(help="project to ask in; * for all (default: default)")]
Most = Annotated[
    int | None,
    Parameter(
        name=["--k", "-k"],
        metavar="N",
        validator=between(1, MOST_CARDS),
        help=f"the most cards to return, 1 to {MOST_CARDS} (default: 5)",
    ),
]
AsOf = Annotated[str | None, Parameter(metavar="INSTANT", help="what was true then (ISO 8601 with offset)")]
AsJson = Annotated[bool, Parameter(help="print the service's answer as JSON")]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Whose memory is asked, where, and for how many cards."""

    user: Annotated[str, Parameter(help="whose memory is asked")]
    tenant: Tenant = DEFAULT_TENANT
    project: Project = None
    k: Most = None


@dataclass(frozen=True, kw_only=True)
class Options(Question):
    """The options of a question."""

    as_of: AsOf = None
    known_at: Annotated[str | None, Parameter(metavar="INSTANT")] = None
    """only what had been recorded by this instant"""
    timezone: Zone = None
    mode: Annotated[str | None, Parameter(help="only cards of this mode, such as code or journal")] = None
    ids: Annotated[bool, Parameter(help="print the id of each card, as `cardlog cards` takes it")] = False
    explain: Annotated[bool, Parameter(help="explain the answer in tables")] = False
    json: AsJson = False


def recall(
    query: Annotated[
        str | None, Parameter(name="QUESTION", help='the question, such as "where do I live?"')
    ] = None,
    /,
    *,
    file: Annotated[
        File | None, Parameter(help="ask each line of a file, or of - for standard input, and no QUESTION")
    ] = None,
    options: Flat[Options],
    client: Given[Client],
) -> Answer:
    """Ask a question and print the cards that answer it, best first."""
    if query is None and file is None:
        raise OptionInvalidError("QUESTION is missing; see: cardlog recall --help")
    if query is not None and file is not None:
        raise OptionInvalidError("--file stands in the place of QUESTION; leave one of them out")
    asked = {
        "project_id": options.project, "k": options.k, "as_of": options.as_of, "known_at": options.known_at,
        "timezone": options.timezone, "mode": options.mode, "explain": options.explain or None,
    }  # fmt: skip
    if query is None:
        with reading(file or "-") as source:
            questions = [line.decode().strip() for line in source]
        return _several([each for each in questions if each], asked, options, client)
    answer = client.recall(options.user, query, **asked)
    if options.json:
        return Answer(answer, ())
    known = bool(answer["cards"]) or has_cards(client, options.user)
    Answer(answer, lines_of(answer, ids=options.ids) if known else [nothing_of(options.user)]).show(
        as_json=False
    )
    if options.explain:
        from rich.console import Console  # noqa: PLC0415 - only tables need it

        from deploy.commands.ask.explanation import tables_of  # noqa: PLC0415

        console = Console()
        for table in tables_of(answer):
            console.print(table)
    for warning in answer["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    return Answer(answer, ())


def _several(
    questions: Sequence[str], asked: Mapping[str, object], options: Options, client: Client
) -> Answer:
    """Returns the answer or the problem of each question. The exit status is 1 when there is a problem."""
    given = {name: value for name, value in asked.items() if value is not None} | {"user_id": options.user}
    bodies = [given | {"query": each} for each in questions]
    found: list[JsonObject] = []
    for at in range(0, len(bodies), _BATCH):
        found += client.recall_batch(bodies[at : at + _BATCH])["answers"]
    lines = []
    for question, each in zip(questions, found, strict=True):
        told = [each["problem"]["detail"]] if "problem" in each else lines_of(each["answer"], ids=options.ids)
        lines += [question, *(f"    {line}" for line in told)]
    return Answer(found, lines, int(any("problem" in each for each in found)))


def nothing_of(user: str) -> str:
    """Returns the sentence about a user without cards."""
    return f"nothing is known about the user {user!r} yet: no card is theirs"


def has_cards(client: Client, user: str) -> bool:
    """True when the service has a card of the user, in any project, or cannot say it."""
    try:
        return bool(client.cards(user, limit=1)["cards"])
    except CardlogError:
        return True


def lines_of(answer: JsonObject, *, ids: bool = False) -> list[str]:
    """Returns the answer as text: each card with its times, its channels and the words of its turn; each insight."""
    lines = []
    for card in answer["cards"]:
        lines.append(f"{card['kind']:<9} {card['content']}   [{when_of(card)}; {why_of(card)}]")
        lines += [f"{'':<9} {card['card_id']}"] if ids else []
        lines += [f"{'':<9} “{each['content']}”" for each in card.get("beside", ()) if each["episode"]]
        for each in card.get("past_facts", ()):
            now = f", now: {each['instead']}" if "instead" in each else ""
            what = "retracted" if each["retracted"] else "no longer"
            lines.append(f"{'':<9} {what}: {each['content']}{now}")
    lines += [
        f"insight   {each['content']}   [inferred from {counted(len(each['sources']), 'card')}]"
        for each in answer.get("insights", ())
    ]
    return lines or ["nothing is known about that"]


def when_of(card: JsonObject) -> str:
    """Returns the times of a card as text, on the speaker's clock, and what the times of its words mean.

    Plans and what perhaps ended are marked.
    """
    status = card.get("event_status")
    when = str(card["when"])
    if status in ("planned", "wished", "cancelled"):
        when = f"{status} {when}{', time passed' if card.get('time_passed') else ''}"
    when += "".join(f"; {each['words']}: {each['time']}" for each in card.get("times", ()))
    newer = card.get("perhaps_no_longer")
    return (
        when if newer is None else f"{when}; {'retracted' if newer.get('retracted') else 'perhaps no longer'}"
    )


def why_of(card: JsonObject) -> str:
    """Returns the channels that found a card with their ranks, best first."""
    votes = sorted(card["channels"].items(), key=lambda item: item[1]["rank"])
    return " ".join(f"{name}#{vote['rank']}" for name, vote in votes) or "the words of this session"


@dataclass(frozen=True, kw_only=True)
class PromptOptions(Question):
    """The options of a prompt."""

    token_budget: Annotated[
        int | None, Parameter(name="--budget", metavar="TOKENS", validator=at_least(1))
    ] = None
    """the most tokens of the prompt"""
    as_of: AsOf = None
    timezone: Zone = None
    json: AsJson = False


def context(
    query: Annotated[
        str, Parameter(name="QUESTION", help='what the user says or asks, such as "where do I live?"')
    ],
    /,
    *,
    options: Flat[PromptOptions],
    client: Given[Client],
) -> Answer:
    """Print the prompt of an assistant for a question: rules, cards, alerts and the time."""
    answer = client.context(
        options.user, query, project_id=options.project, k=options.k, token_budget=options.token_budget,
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
