"""Verbs that list and change one kind of resource of a user's memory, and only call the client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import REASON, Verbs, argument, every, option
from deploy.options import Answer, Count, between
from events.platform.counting import counted
from events.types.verdicts import Verdict

if TYPE_CHECKING:
    from cardlog_client import types

sessions = App(
    name="sessions", help="the conversations of a user: list them, show the turns of one, or one turn"
)
of_sessions = Verbs(sessions)


def _session(each: types.Session) -> Iterator[str]:
    yield (
        f"{each['session_id']}  project {each['project_id']}  {each['first_said_at']} to {each['last_said_at']}"
        f"  turns {each['turns']}"
    )


def _turn(turn: types.RecordedTurn) -> list[str]:
    return [f"{turn['said_at']}  {turn['speaker'] or turn['role']}: {turn['text']}"]


def _turns(client: Client, user: str, session: str, limit: int | None, **more: object) -> Answer:
    def ask(user: str, **page: object) -> Any:
        return client.session_turns(user, session, **page)

    found = every(ask, user, "turns", most=limit, **more)[::-1]
    return Answer(found, [line for each in found for line in _turn(each)])


of_sessions.pages(
    "list", "list the sessions of a user, the latest spoken in first", Client.sessions,
    option("project_id", str, "only of this project", name="--project"),
    option("limit", Count, "the most sessions to print (default: all)"),
    items="sessions", lines=_session, none="{user} has no sessions",
)  # fmt: skip
of_sessions.call(
    "show", "show the turns of a session in their order", _turns,
    argument("session", str, "the session's id, as listed"),
    option("project_id", str, "the project of the session", "default", name="--project"),
    option("limit", Count, "only so many of the latest turns (default: all)"),
)  # fmt: skip
of_sessions.call(
    "turn", "show one turn", Client.turn,
    argument("turn", str, "the turn's id, as the cards of the turn name it"), lines=_turn,
)  # fmt: skip


arbitrations = App(
    name="arbitrations",
    help="Some changes of a fact need a decision. Until there is a verdict the old fact stays, and a recall "
    "that finds it reports both values.",
)
of_arbitrations = Verbs(arbitrations)
_ARBITRATION = argument("arbitration", UUID, "the conflict's id, as listed")


def _conflict(conflict: types.Arbitration) -> Iterator[str]:
    about = f"{conflict['entity']} {conflict['concept_key']}"
    yield (
        f"{conflict['arbitration_id']}  {conflict['status']:<10} {conflict['opened_at'][:10]}  {about}: "
        f"{conflict['old_value']} or {conflict['new_value']}? {conflict['reason']}"
    )


def _evidence(client: Client, user: str, arbitration: str) -> Answer:
    conflict = client.arbitration(user, arbitration)
    lines = [*_conflict(conflict)]
    for side, value in (("old", conflict["old_value"]), ("new", conflict["new_value"])):
        evidence = conflict["evidence"][side]
        words = evidence["quote"] or ", ".join(evidence["turn_ids"])
        lines.append(f"    {side}: {value}, said {evidence['said_at']}: {words}")
    if conflict["status"] == "open":
        verdicts = "|".join(get_args(Verdict))
        lines.append(f"settle it: cardlog arbitrations rule --user {user} {arbitration} {verdicts}")
    return Answer(conflict, lines)


def _rule(client: Client, user: str, arbitration: str, verdict: Verdict, **more: object) -> Answer:
    done = client.settle_arbitration(user, arbitration, verdict, **more)
    place = f"{done['partition']}/{done['position']}"
    again = " (it already was)" if done["duplicate"] else ""
    line = f"ruled {verdict}; the verdict is in the log at {place}{again}"
    return Answer({"place": place, "duplicate": done["duplicate"]}, [line])


of_arbitrations.pages(
    "list", "list the conflicts of a user, the latest opened first", Client.arbitrations, of_arbitrations.options,
    option(
        "status", Literal["open", "keep_old", "accept_new", "coexist", "withdrawn", "all"], "default: open", "open"
    ),
    items="arbitrations", lines=_conflict, none="{user} has no {status}conflicts",
)  # fmt: skip
of_arbitrations.call("show", "show one conflict with its evidence", _evidence, _ARBITRATION)
of_arbitrations.call(
    "rule",
    "Settle a conflict: keep the old fact, accept the new one, or say that both are true.\n\n"
    "A verdict is an event of the log and is given once.", _rule,
    _ARBITRATION, argument("verdict", Verdict, "what is true"),
    option("reason", str, "the reason, which is recorded", "no reason given", metavar="WHY"),
    option("by", str, "who decides (default: operator)", "operator", metavar="NAME"),
)  # fmt: skip


proposals = App(
    name="proposals",
    help='With CARDLOG_REFERENCE_PROPOSALS a turn such as "add tea to my list" becomes a proposal. A sure one is '
    "applied at once, any other one waits here.",
)
of_proposals = Verbs(proposals)
_PROPOSAL = argument("proposal", UUID, "the proposal's id, as listed")


def _proposal(each: types.Proposal) -> Iterator[str]:
    op = " ".join(f"{name}={value}" for name, value in each["op"].items() if name != "op")
    yield (
        f"{each['proposal_id']}  {each['status']:<8} {each['confidence']:.2f}  {each['kind']}/{each['key']}: "
        f"{each['op']['op']} {op}  ({each['quote']})"
    )


def _approved(done: Mapping[str, object]) -> Iterator[str]:
    yield str(done["rendering"]) if "rendering" in done else f"retracted: {done['content']}"


of_proposals.pages(
    "list", "list the proposals of a user, the latest first", Client.proposals, of_proposals.options,
    option("status", Literal["waiting", "applied", "approved", "refused", "all"], "default: waiting", "waiting"),
    items="proposals", lines=_proposal, none="{user} has no {status}proposals",
)  # fmt: skip
of_proposals.call("approve", "apply a waiting proposal", Client.approve_proposal, _PROPOSAL, lines=_approved)
of_proposals.call(
    "refuse", "refuse a waiting proposal; nothing changes", Client.refuse_proposal, _PROPOSAL, REASON, lines="refused"
)  # fmt: skip


problems = App(name="problems", help="what troubles a user, what the user tried, and what helped")
of_problems = Verbs(problems)
_PROBLEM = argument("problem", UUID, "the problem's id, as listed")
_OUTCOMES = {True: "worked", False: "failed", None: "tried"}


def _problem(problem: types.Problem) -> Iterator[str]:
    yield f"{problem['problem_id']}  {problem['status']:<6} {problem['priority']:>2}  {problem['description']}"
    for each in problem["attempts"]:
        outcome = f": {each['outcome']}" if each["outcome"] else ""
        yield f"    {each['date'][:10]}  {_OUTCOMES[each['successful']]:<6}  {each['approach']}{outcome}"


of_problems.pages(
    "list", "list the problems of a user, the urgent ones first", Client.problems, of_problems.options,
    option("status", Literal["active", "closed", "all"], "default: active", "active"),
    most=1000, items="problems", lines=_problem, none="{user} has no {status}problems",
)  # fmt: skip
of_problems.call(
    "open", "open a problem", Client.open_problem,
    argument("description", str, "what troubles the user, in a few words"),
    option("priority", int, "1: a trifle, 10: urgent (default: 5)", validator=between(1, 10)),
    option("since", str, "since when the user has it (default: now)", metavar="DAY"),
    option("project_id", str, "the project of the problem", "default", name="--project"),
    lines=_problem,
)  # fmt: skip
of_problems.call(
    "attempt", "record what the user tried; the same approach again updates its outcome", Client.attempt_problem,
    _PROBLEM, argument("approach", str, "what was tried"),
    option("outcome", str, "what came of it"),
    option(
        "successful", bool, "whether it helped (default: unknown)", name="--worked", negative="--failed"
    ),
    option("date", str, "when it was tried (default: now)", metavar="DAY"),
    lines=_problem,
)  # fmt: skip
of_problems.call(
    "close", "close a problem", Client.close_problem, _PROBLEM,
    option("resolution", str, "how it ended", metavar="HOW"), lines=_problem,
)  # fmt: skip
of_problems.call(
    "reopen", "open a closed problem again", Client.reopen_problem, _PROBLEM, REASON, lines=_problem
)


threads = App(name="threads", help="topics of a user that go on over sessions, and their cards")
of_threads = Verbs(threads)
_THREAD = argument("thread", UUID, "the thread's id, as listed")


def _thread(thread: types.Thread) -> Iterator[str]:
    changed = f"{thread['cards']:>4} cards  changed {thread['updated_at'][:10]}"
    yield f"{thread['thread_id']}  {thread['status']:<6} {changed}  {thread['title']}"


def _with_cards(
    head: Iterable[str], cards: Iterable[types.ThreadCard | types.InsightSource]
) -> Iterator[str]:
    yield from head
    for each in cards:
        said = each["said_at"][:10] if each["said_at"] else "-"
        yield f"    {said:<10}  {each['kind'] or 'gone':<9}  {each['content'] or each['card_id']}"


def _thread_cards(found: types.ThreadCards) -> Iterator[str]:
    return _with_cards(_thread(found["thread"]), found["cards"])


of_threads.pages(
    "list", "list the threads of a user, open ones first", Client.threads, of_threads.options,
    option("status", Literal["open", "closed", "all"], "default: open", "open"),
    most=500, items="threads", lines=_thread, none="{user} has no {status}threads",
)  # fmt: skip
of_threads.call("show", "show a thread with its cards", Client.thread, _THREAD, lines=_thread_cards)
of_threads.call(
    "open", "open a thread", Client.open_thread,
    argument("title", str, "the topic, in a few words"),
    option("project_id", str, "the project of the thread", "default", name="--project"),
    REASON, lines=_thread,
)  # fmt: skip
of_threads.call(
    "add", "add cards to a thread", Client.thread_cards, _THREAD,
    argument("card_ids", list[str], "the ids of the cards, as recall shows them"),
    option("reason", str, "why they belong to it", "added by hand"), lines=_thread,
)  # fmt: skip
of_threads.call(
    "rename", "give a thread another title", Client.rename_thread, _THREAD,
    argument("title", str, "the new title"), lines=_thread,
)  # fmt: skip
of_threads.call("close", "close a thread", Client.close_thread, _THREAD, REASON, lines=_thread)
of_threads.call("reopen", "open a closed thread again", Client.reopen_thread, _THREAD, REASON, lines=_thread)


insights = App(name="insights", help="what the curator concluded from several cards of a user")
of_insights = Verbs(insights)
_INSIGHT = argument("insight", UUID, "the insight's id, as listed")


def _insight(insight: types.Insight) -> Iterator[str]:
    yield f"{insight['insight_id']}  {insight['status']:<9}  {len(insight['sources']):>3} cards  {insight['content']}"


def _insight_cards(found: types.InsightSources) -> Iterator[str]:
    return _with_cards(_insight(found["insight"]), found["cards"])


of_insights.pages(
    "list", "list the insights of a user, the last first", Client.insights, of_insights.options,
    option("status", Literal["current", "stale", "retracted", "all"], "default: current", "current"),
    most=500, items="insights", lines=_insight, none="{user} has no {status}insights",
)  # fmt: skip
of_insights.call("show", "show an insight with its sources", Client.insight, _INSIGHT, lines=_insight_cards)
of_insights.call(
    "retract", "retract an insight, so it is not derived again", Client.retract_insight, _INSIGHT,
    option("reason", str, "why it is wrong", "retracted by hand"), lines=_insight,
)  # fmt: skip


curator = App(name="curator", help="what the curator added to a user's memory: log, run, undo")
of_curator = Verbs(curator)


def _run(run: types.CuratorRun) -> Iterator[str]:
    state = f"undone {run['undone_at'][:10]}: {run['undone_reason']}" if run["undone_at"] else ""
    if run["run_id"]:
        yield f"{run['run_id']}  {str(run['at'])[:16]}  {len(run['acts'])} acts  {state}".rstrip()
    elif not run["acts"] and not run["asked"]:
        yield "nothing to add"
    for pair in () if run["run_id"] else run["asked"]:
        yield f"    would ask    {pair['later']} {pair['earlier']}"
    for act in run["acts"]:
        what = act["predicate"] or act["title"] or act["act"]
        yield f"    {what:<12} {act['confidence']:.2f}  {' '.join(act['evidence'])}  {act['reason']}"


of_curator.pages(
    "log", "list the runs of the curator, the last first", Client.curator_runs, of_curator.options,
    most=500, items="runs", lines=_run, none="the curator added nothing for {user}",
)  # fmt: skip
of_curator.call(
    "run", "curate the memory of a user now", Client.run_curator,
    option("dry_run", bool, "only show what would be added", False, name="--dry-run", negative=""), lines=_run,
)  # fmt: skip
of_curator.call(
    "undo", "take back what a run added; it is not added again", Client.undo_run,
    argument("run", UUID, "the run's id, as listed"), argument("reason", str, "why"), lines=_run,
)  # fmt: skip


people = App(name="people", help="who is who in the conversations of a user")
of_people = Verbs(people)
_PERSON = argument("person", UUID, "the person's id, as listed")
_OTHER = argument("other", UUID, "the id of the other person")


def _person(person: types.Person) -> Iterator[str]:
    names = [person["name"], *person["aliases"], *person["addresses"]]
    ties = f" ({', '.join(person['kinship'])})" if person["kinship"] else ""
    yield (
        f"{person['person_id']}  {', '.join(names)}{ties}  "
        f"{person['since'][:10]} to {person['last_mention'][:10]}, {counted(person['mentions'], 'mention')}"
    )
    for each in person["merged"]:
        yield f"    merged: {each}"


def _people(found: types.PeoplePage) -> Iterator[str]:
    for each in found["people"]:
        yield from _person(each)
    for merge in found["proposals"]:
        evidence = "; ".join(merge["evidence"])
        yield f"perhaps one: {merge['person_id']} is {merge['into_id']} ({merge['score']:.2f}): {evidence}"
    if not found["people"]:
        yield "nobody is named"


def _known_person(person: types.KnownPerson) -> Iterator[str]:
    yield from _person(person)
    for each in person["facts"]:
        yield f"    {each['content']}"


def _timeline(found: types.PersonTimeline) -> Iterable[str]:
    """Returns the lines of the entries. Cards with the same words, such as a state and its event, are one line."""
    told = ((f"{each['quoted']} told: " if each["quoted"] else "", each["card"]) for each in found["entries"])
    return dict.fromkeys(f"{card['said_at'][:10]}  {quoted}{card['content']}" for quoted, card in told)


of_people.call(
    "list", "list people, the last mentioned first, and the merges that wait", Client.people, of_people.options,
    option("name", str, "only people with this name or kinship"), lines=_people,
)  # fmt: skip
of_people.call("show", "show a person with what is true now", Client.person, _PERSON, lines=_known_person)
of_people.call(
    "timeline", "show the cards that name a person", Client.person_timeline, _PERSON, lines=_timeline
)
of_people.call(
    "note", "note a person", Client.note_person, argument("name", str, "the name"),
    option("kinship", str, "what ties the person to the user: sister, work; it tells two of a name apart"),
    lines=_person,
)  # fmt: skip
of_people.call(
    "alias", "give a person another name", Client.alias_person, _PERSON,
    argument("alias", str, "the name, or the address or account"),
    option("kind", Literal["name", "handle"], "handle: an address or an account (default: name)"), lines=_person,
)  # fmt: skip
for _name, _help, _method in (
    ("merge", "say that two people are one: the other one", Client.merge_person),
    ("split", "take back a merge with the other one", Client.split_person),
    ("distinct", "say that two people are two, for ever", Client.distinguish_person),
):
    of_people.call(_name, _help, _method, _PERSON, _OTHER, REASON, lines=_person)


webhooks = App(name="webhooks", help="addresses that get a signed message for each event of some types")
of_webhooks = Verbs(webhooks)


def _webhook(webhook: types.Webhook) -> Iterator[str]:
    counts = f"{webhook['pending']:>4} waiting  {webhook['dead']:>4} dead"
    yield f"{webhook['webhook_id']}  {counts}  {webhook['url']}  {' '.join(webhook['types'])}"
    if webhook["last_error"]:
        yield f"    last error: {webhook['last_error']}"


def _added_webhook(webhook: types.AddedWebhook) -> Iterator[str]:
    yield from _webhook(webhook)
    yield f"secret, shown only now: {webhook['secret']}"


def _webhooks(found: types.WebhooksPage) -> Iterator[str]:
    for each in found["webhooks"]:
        yield from _webhook(each)


of_webhooks.call(
    "add", "add a webhook, and show its secret", Client.add_webhook,
    argument("url", str, "the address that gets the messages, with https"),
    argument("types", list[str], "the types of events, such as TurnRecorded"), lines=_added_webhook,
)  # fmt: skip
of_webhooks.call(
    "list", "list the webhooks of a user, with what waits and what is dead", Client.webhooks, lines=_webhooks
)
of_webhooks.call(
    "remove", "remove a webhook, and drop its messages", Client.remove_webhook,
    argument("webhook", UUID, "the webhook's id, as listed"), lines=_webhook,
)  # fmt: skip
