"""The tools, in their fixed order: what each does, what it takes, and how it is answered."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from typing import Any, get_args
from uuid import uuid4
from xml.sax.saxutils import escape

import jsonschema_rs
import orjson

from events.http.errors import problem_of
from events.types.json_values import JsonObject
from events.types.relations import Predicate
from events.types.turn_contract import known_zone
from retrieval.mcp import pages
from retrieval.mcp.memory import Memory, RefusedError
from retrieval.mcp.pages import LEAST_TOKENS, MOST_TOKENS, page

Arguments = JsonObject
CONTEXT_TOKENS = 2_000
AGENT = "mcp"
_BY_SERVER = ("user_id", "project_id", "op", "agent_id")
"""Fields of an op that its arguments cannot give."""
_OTHERS = {"merge": "into_id", "split": "from_id", "distinct": "other_id", "alias": "alias"}
"""The field of each action about a person that the argument ``other`` fills."""


@dataclass(frozen=True)
class Tool:
    """A tool. ``run`` answers with text. ``needed`` are the arguments that must be there.

    ``sent_as`` holds the arguments that the services know by another name, by that name.
    """

    name: str
    does: str
    takes: JsonObject
    needed: Sequence[str]
    run: Callable[[Memory, Arguments], Awaitable[str]]
    reads: bool = True
    destroys: bool = False
    sent_as: Mapping[str, str] = field(default_factory=dict)

    @property
    def schema(self) -> dict[str, object]:
        """The JSON Schema of the arguments, without the bounds, which would only cost tokens."""
        bounds = ("minimum", "maximum")
        return self._schema(
            {name: {at: each[at] for at in each if at not in bounds} for name, each in self.takes.items()}
        )

    @cached_property
    def _checked(self) -> Any:
        return jsonschema_rs.validator_for({**self._schema(self.takes), "additionalProperties": False})

    def _schema(self, takes: Mapping[str, object]) -> dict[str, object]:
        needed = {"required": list(self.needed)} if self.needed else {}
        return {"type": "object", "properties": dict(takes), **needed}

    async def answer(self, memory: Memory, arguments: Arguments) -> str:
        """Returns the answer. Raises RefusedError, also for arguments that do not fit the schema."""
        fault = next(self._checked.iter_errors(dict(arguments)), None)
        if fault is not None:
            problem = problem_of([_told(fault)], {"arguments": list(self.takes)})
            raise RefusedError(str(problem)[:500])
        try:
            return await self.run(memory, arguments)
        except RefusedError as error:
            argument = self.sent_as.get(error.field or "")
            if argument is None:
                raise
            raise RefusedError(f"{argument}: {str(error).removeprefix(f'{error.field}: ')}") from error


_TYPES = {"string": "string_type", "integer": "int_type", "boolean": "bool_type", "array": "list_type"}


def _told(fault: Any) -> JsonObject:
    """Returns a fault of the schema as a fault of a model, which HTTP tells of the same mistake."""
    kind, path = fault.kind, ["arguments", *fault.instance_path]
    if kind.name == "additionalProperties":
        return {"type": "extra_forbidden", "loc": [*path, kind.unexpected[0]]}
    if kind.name == "required":
        return {"type": "missing", "loc": [*path, kind.property]}
    if kind.name == "enum":
        return {"type": "enum", "loc": path, "ctx": {"expected": ", ".join(kind.options)}}
    if kind.name == "type":
        return {"type": _TYPES.get(kind.types[0], "dict_type"), "loc": path}
    bound = {"minimum": ("greater_than_equal", "ge"), "maximum": ("less_than_equal", "le")}
    type_, name = bound[kind.name]
    return {"type": type_, "loc": path, "ctx": {name: kind.limit}}


async def _remember(memory: Memory, asked: Arguments) -> str:
    turn_id = f"{AGENT}-{uuid4().hex}"
    turn = {"text": asked["text"], "mode": asked.get("mode"), "turn_id": turn_id, "agent_id": AGENT}
    # The protocol names no conversation. What is said on one day of the user is one.
    day = datetime.now(known_zone(memory.timezone or "UTC") or UTC).date()
    turn |= {"session_id": f"{AGENT} {day}", "timezone": memory.timezone}
    pushed = await memory.change("POST", "/v1/turns", **turn)
    kept = f"kept as turn {turn_id}"
    if not asked.get("wait"):
        return kept
    try:
        found = await memory.ask(
            "/v1/cards", turn_id=turn_id, project_id="*", wait_for=pushed["token"], limit=20
        )
    except RefusedError as error:
        return f"{kept}\nnot in the cards yet: {error}"
    return f"{kept}\n{page('memory', pages.cards(found['cards']), {})}"


async def _recall(memory: Memory, asked: Arguments) -> str:
    named = {name: asked.get(name) for name in ("query", "mode", "kinds", "as_of")}
    found = await memory.recall("/v1/recall", k=asked.get("k", 10), **named)
    lines = pages.cards(found["cards"], titles=asked.get("titles", False))
    lines += pages.insights(found.get("insights", ()))
    lines += pages.contradictions(found["contradictions"])
    lines += [f"<warning>{escape(each)}</warning>" for each in found["warnings"]]
    return page("memory", lines, asked, now=found["current_time"])


async def _context(memory: Memory, asked: Arguments) -> str:
    budget = asked.get("max_tokens", CONTEXT_TOKENS)
    found = await memory.recall("/v1/context", query=asked["query"], token_budget=budget)
    return str(found["text"])


async def _reference(memory: Memory, asked: Arguments) -> str:
    action, name = asked["action"], (asked.get("kind", ""), asked.get("key", ""))
    if action == "list":
        found = await memory.ask("/v1/references", kind=asked.get("kind"), limit=500)
        lines = [
            f'<reference kind="{each["kind"]}" version="{each["version"]}">{escape(each["rendering"])}</reference>'
            for each in found["references"]
        ]
        return page("references", lines, asked)
    if not all(name):
        raise RefusedError(f"kind and key are required to {action} a reference")
    address = "/v1/references/{}/{}"
    given = {each: value for each, value in asked.get("args", {}).items() if each not in _BY_SERVER}
    given["agent_id"] = AGENT
    if action == "show":
        one = await memory.ask(address, *name)
    elif action == "create":
        one = await memory.change("POST", "/v1/references/{}", name[0], **given | {"key": name[1]})
    elif "op" not in asked:
        raise RefusedError("op is required to apply, such as add, with its arguments in args")
    else:
        try:
            one = await memory.change("PATCH", address, *name, **given | {"op": asked["op"]})
        except RefusedError as error:
            hint = "; the action create makes one" if error.field == "key" else ""
            raise RefusedError(f"{error}{hint}", error.field) from error
    data = orjson.dumps(one["data"], option=orjson.OPT_INDENT_2).decode()
    told = {each: one[each] for each in ("kind", "key", "version", "tier")}
    return page("reference", pages.pieces(data), asked, **told)


async def _relate(memory: Memory, asked: Arguments) -> str:
    made = await memory.change("POST", "/v1/relations", **asked, project_id=None, agent_id=AGENT)
    return f"related; the relation is {made['event_id']}"


async def _people(memory: Memory, asked: Arguments) -> str:
    action, person = asked["action"], asked.get("person_id")
    whole: dict[str, object] = {"project_id": None}
    if action == "list":
        found = await memory.ask("/v1/people", name=asked.get("name"), limit=500, **whole)
        return page("people", pages.people(found), asked)
    if person is None:
        raise RefusedError(f"person_id is required to {action} a person; list gives the ids")
    if action == "show":
        one = await memory.ask("/v1/people/{}", person, **whole)
        told = await memory.ask("/v1/people/{}/timeline", person, limit=100, **whole)
        facts = {each["card_id"] for each in one["facts"]}
        others = [each["card"] for each in told["entries"] if each["card"]["card_id"] not in facts]
        return page("person", [pages.person(one), *pages.cards([*one["facts"], *others])], asked)
    if "other" not in asked:
        raise RefusedError(f"other is required to {action} a person: the id of the other one, or the alias")
    other = {_OTHERS[action]: asked["other"]}
    after = await memory.change("POST", f"/v1/people/{{}}/{action}", person, **other, **whole, agent_id=AGENT)
    return page("person", [pages.person(after)], asked)


async def _timeline(memory: Memory, asked: Arguments) -> str:
    if "card_id" in asked:
        found = await memory.ask("/v1/cards/{}/history", asked["card_id"], project_id=None)
        return page("timeline", pages.cards(found["cards"]), asked)
    named = {
        "project_id": memory.projects,
        "about": asked.get("about"),
        "occurred_from": _instant(asked.get("since")),
        "occurred_to": _instant(asked.get("until"), through=True),
        "status": "*",
        "limit": 500,
    }
    found = await memory.ask("/v1/cards", **named)
    kept = sorted(
        found["cards"], key=lambda card: str(card["occurred_at"] or card["effective_at"] or card["said_at"])
    )
    return page("timeline", pages.cards(kept, titles=asked.get("titles", False)), asked)


def _instant(told: str | None, *, through: bool = False) -> str | None:
    """Returns an instant. A date is its first instant in UTC, or with ``through`` the first one after it."""
    try:
        return f"{date.fromisoformat(told or '') + timedelta(days=through)}T00:00:00Z"
    except (ValueError, OverflowError):
        return told


async def _forget(memory: Memory, asked: Arguments) -> str:
    turn_id = asked["turn_id"]
    await memory.erase("/v1/turns/{}", turn_id, dry_run="true")  # says who may not erase
    code = sha256(orjson.dumps([memory.user, turn_id])).hexdigest()[:8]
    if asked.get("confirm") != code:
        turn = await memory.ask("/v1/turns/{}", turn_id, project_id=None)
        words = page(
            "turn", pages.pieces(turn["text"]), {}, said=turn["said_at"], by=turn["speaker"] or turn["role"]
        )
        wrong = "The code in confirm is wrong. " if "confirm" in asked else ""
        return (
            f"NOT erased yet. {wrong}Ask the user first: turn {turn_id} and all that was made of it would go for ever. "
            f"If the user says yes, call again with confirm={code!r}\n{words}"
        )
    done = await memory.erase("/v1/turns/{}", turn_id)
    return f"erased; the receipt is {done['erasure_id']}"


# The services check lengths and names. Here they would only cost tokens.
_TEXT = _NAME = {"type": "string"}
_PAGES = {
    "max_tokens": {"type": "integer", "minimum": LEAST_TOKENS, "maximum": MOST_TOKENS},
    "cursor": _NAME,
}
_TITLES = {"type": "boolean", "description": "ids and first words"}
_INSTANT = {"type": "string", "description": "ISO 8601"}

_ALWAYS = (
    Tool(
        "remember",
        "Keep what the user said.",
        {"text": _TEXT, "mode": _NAME, "wait": {"type": "boolean", "description": "until recall finds it"}},
        ("text",),
        _remember,
        reads=False,
    ),
    Tool(
        "recall",
        "Ask the memory of the user; get cards with their times.",
        {
            "query": _TEXT,
            "k": {"type": "integer", "minimum": 1, "maximum": 50},
            "as_of": {"type": "string", "description": "RFC 3339"},
            "mode": _NAME,
            "kinds": {
                "type": "array",
                "items": {"enum": ["state", "event", "knowledge", "reference", "insight"]},
            },
            "titles": _TITLES,
            **_PAGES,
        },
        ("query",),
        _recall,
    ),
    Tool(
        "context",
        "The memory about a question as a prompt, with rules, facts and alerts.",
        {"query": _TEXT, "max_tokens": {"type": "integer", "minimum": 600, "maximum": MOST_TOKENS}},
        ("query",),
        _context,
        sent_as={"token_budget": "max_tokens"},
    ),
    Tool(
        "reference",
        "Named values such as todo_list/groceries: list, show, create, or apply an op such as add.",
        {
            "action": {"enum": ["list", "show", "create", "apply"]},
            "kind": _NAME,
            "key": _NAME,
            "op": _NAME,
            "args": {"type": "object", "description": 'such as {"text": "milk"}'},
            **_PAGES,
        },
        ("action",),
        _reference,
        reads=False,
    ),
    Tool(
        "relate",
        "Relate two cards, from the newer to the older; nothing is lost.",
        {
            "from_card": _NAME,
            "to_card": _NAME,
            "predicate": {"enum": list(get_args(Predicate))},
            "reason": _TEXT,
        },
        ("from_card", "to_card", "predicate", "reason"),
        _relate,
        reads=False,
    ),
    Tool(
        "people",
        "Who is who: list people and proposed merges, show one, merge, split or alias.",
        {
            "action": {"enum": ["list", "show", "merge", "split", "distinct", "alias"]},
            "name": _NAME,
            "person_id": _NAME,
            "other": {"type": "string", "description": "the other id, or the alias"},
            **_PAGES,
        },
        ("action",),
        _people,
        reads=False,
        sent_as=dict.fromkeys(_OTHERS.values(), "other"),
    ),
    Tool(
        "timeline",
        "Cards in order of time: the values of the fact of card_id, or what is about a name or in a range.",
        {"card_id": _NAME, "about": _NAME, "since": _INSTANT, "until": _TEXT, "titles": _TITLES, **_PAGES},
        (),
        _timeline,
        sent_as={"occurred_from": "since", "occurred_to": "until"},
    ),
)
_FORGET = Tool(
    "forget",
    "Erase one turn for ever. The first call says what would go; ask the user before the second.",
    {"turn_id": _NAME, "confirm": _NAME},
    ("turn_id",),
    _forget,
    reads=False,
    destroys=True,
)


def tools(*, forget: bool) -> tuple[Tool, ...]:
    """Returns the tools in their order. Only with ``forget`` one of them can erase."""
    return (*_ALWAYS, _FORGET) if forget else _ALWAYS
