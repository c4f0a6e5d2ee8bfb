"""Proposals: ops that prose asks for.

A sure one is applied and flagged as derived. Any other one waits for an answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from events.access.principal import Reach
from events.http.errors import ProblemError, missing
from events.language.chinese_script import has_cjk, to_simplified
from events.platform.database import Connection, Row, rows_if_folded, statement
from events.references.declarations import kind_of
from events.references.reference import Reference, reference_of
from events.references.reference_log import current
from events.resources.references import RetractedCard
from events.store import log
from events.store.asking import first_event
from events.types.envelope import Event
from events.types.references import (
    ReferenceName,
    ReferenceProposalAccepted,
    ReferenceProposalRefused,
    ReferenceProposed,
)
from events.types.tenancy import tenant_of
from events.types.turns import TurnRecorded
from ingest.decider import Command, Outcome
from ingest.references import reference_commands, retractions
from ingest.references.reference_commands import ReferenceStream

ListOp = Literal["add", "mark_done", "remove"]

MOST_REQUESTS = 20
_LONGEST = 400
"""Characters of a sentence. A longer one is no request to change a list."""
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_POLITE = (
    r"^\s*(?:(?:ok(?:ay)?|hey|hi|thanks|oh|and|also|then|now)[, ]+)*"
    r"(?:(?:please|kindly) |(?:can|could|would|will) you (?:please )?)?"
)
_LIST = (
    r"(?P<whose>my|our|the)\s+(?P<name>[\w'’ -]{0,40}?\s*(?:to-?do(?:s| list)?|list|checklist))"
    r"(?:,? please)?\s*[.!?]*$"
)
_Patterns = tuple[tuple[ListOp, str], ...]
_ENGLISH: _Patterns = (
    ("add", rf"(?:add|put|append)\s+(?P<text>.+?)\s+(?:to|on|onto|in)\s+{_LIST}"),
    ("mark_done", rf"(?:cross|check|tick|strike)\s+(?P<text>.+?)\s+off\s+(?:of\s+)?{_LIST}"),
    ("mark_done", rf"(?:cross|check|tick|strike)\s+off\s+(?P<text>.+?)\s+(?:from|on)\s+{_LIST}"),
    ("mark_done", rf"mark\s+(?P<text>.+?)\s+(?:as\s+)?(?:done|complete|completed|finished)\s+(?:on|in)\s+{_LIST}"),
    ("remove", rf"(?:remove|delete|drop|take)\s+(?P<text>.+?)\s+(?:from|off)\s+(?:of\s+)?{_LIST}"),
)  # fmt: skip
# No word of a repeated list is made of others of it: the time would double with each such word.
_ASKED = r"^\s*(?:好[,，]?|那[,，]?)?(?:(?:请|麻烦|帮我|替我|可以|能不能|可不可以|你)\s*)*"
_OF = r"(?P<whose>我的|我们的|)(?P<name>[^,，。！？\s]{0,10}?(?:清单|列表|待办事项|待办))(?:里面|里|上|中)?"
_END = r"(?:吧|好吗|谢谢|了)?\s*[。！？!?]*$"
_CHINESE: _Patterns = (
    ("add", rf"把(?P<text>.+?)(?:加|添加|放|新增|写|列)(?:到|进|入|在)?{_OF}(?:去|里去)?{_END}"),
    ("add", rf"(?:在|往)?{_OF}(?:加上|添加|新增|加入|加)(?:一个|一项|一条)?(?P<text>[^。！？!?]+?){_END}"),
    ("mark_done", rf"把(?P<text>.+?)从{_OF}(?:划掉|勾掉|勾选掉|打勾){_END}"),
    ("mark_done", rf"把{_OF}的(?P<text>.+?)(?:划掉|勾掉|打勾|标记为完成|标成完成){_END}"),
    ("remove", rf"把(?P<text>.+?)从{_OF}(?:删掉|删除|移除|拿掉|去掉){_END}"),
)  # fmt: skip
_COMPILED = tuple(
    (op, re.compile(before + pattern, re.IGNORECASE))
    for before, patterns in ((_POLITE, _ENGLISH), (_ASKED, _CHINESE))
    for op, pattern in patterns
)
_TRIGGERS = ("list", "to-do", "todo", "清单", "列表", "待办")
_PARTS = re.compile(r"\s*(?:,\s*(?:and\s+)?|\s+and\s+|[、，]\s*(?:和|还有)?)\s*", re.IGNORECASE)
_LIST_WORD = re.compile(r"\s*(?:to-?do list|to-?dos?|checklist|list|清单|列表|待办事项|待办)$")
_TO_DO = re.compile(r"to-?do|待办")
_ARTICLE = re.compile(r"^(?:an?|the|some)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """A request in a sentence: the op, the items, and the list in the words of the speaker, which may name none.

    ``own`` is true when the speaker says whose list it is. ``quote`` are the words of the request.
    """

    op: ListOp
    items: tuple[str, ...]
    list_name: str
    own: bool
    quote: str


def requests_in(text: str) -> list[ListRequest]:
    """Returns the requests in a turn of a user, in order. Guarantees that every item is quoted from ``text``."""
    plain = to_simplified(text)
    if len(plain) != len(text) or not any(trigger in plain.casefold() for trigger in _TRIGGERS):
        return []
    found: list[ListRequest] = []
    for sentence in _SENTENCE.finditer(plain):
        if len(sentence[0]) > _LONGEST or len(found) == MOST_REQUESTS:
            continue
        original = text[sentence.start() : sentence.end()]
        for op, pattern in _COMPILED:
            match = pattern.match(sentence[0])
            if match is not None:
                items = _items(original[slice(*match.span("text"))])
                if items:
                    name = original[slice(*match.span("name"))].strip()
                    own = match["whose"] not in ("", "the", "The")
                    found.append(ListRequest(op, items, name, own, original.strip()))
                break
    return found


def list_key(key: str) -> str:
    """Returns the common form of a key and a spoken name: simplified, lower case, without the word for a list.

    A to-do list without another name is called so. A name that only says "list" is empty.
    """
    plain = to_simplified(key).casefold().replace("_", " ").strip()
    named = _LIST_WORD.sub("", plain).strip()
    return named or ("todo" if _TO_DO.match(plain) else "")


def new_key(spoken: str) -> str:
    """Returns the key of a new list: its spoken name in the script of the speaker, and "todo" without a name."""
    return spoken if has_cjk(spoken) else list_key(spoken) or "todo"


def _items(words: str) -> tuple[str, ...]:
    parts = (_ARTICLE.sub("", part.strip().strip("\"'“”「」")).strip() for part in _PARTS.split(words))
    return tuple(part for part in parts if part)[:MOST_REQUESTS]


STREAM = "proposals"
KIND = "todo_list"
_PACKAGE = "ingest.references"
KNOWN_LIST, NEW_LIST, UNCLEAR = 0.95, 0.8, 0.5
"""Confidences: the words name a list that exists, a list that does not exist yet, or no list."""


@dataclass(frozen=True, slots=True)
class _ProposedOp:
    """An op for one reference, as a request in prose means it."""

    name: ReferenceName
    op: Mapping[str, object]
    confidence: float


def propose(connection: Connection, turn: Event, apply_from: float) -> int:
    """Appends a proposal for each op that a turn of a user asks for. Returns the number of new proposals.

    An op with a confidence of at least ``apply_from`` is applied in the same transaction. A turn is proposed from at
    most once. The caller runs it in a transaction.
    """
    recorded = turn.payload
    if not isinstance(recorded, TurnRecorded) or recorded.role != "user" or recorded.by_contact:
        return 0
    requests = requests_in(recorded.text)
    if not requests:
        return 0
    scope = None if recorded.project_id == "default" else recorded.project_id
    lists = _lists(connection, turn.user_id, scope)
    made = 0
    for request in requests:
        for item in request.items:
            made += 1
            wanted = _wanted(request, item, lists, scope)
            if wanted is None:
                continue
            command = Command(
                owner=turn.user_id,
                actor="extractor",
                at=recorded.said_at,
                idempotency_key=f"proposal/{recorded.turn_id}/{made}",
                turn_ids=(recorded.turn_id,),
                derived=True,
                confidence=wanted.confidence,
                quote=request.quote,
            )
            _propose_one(connection, turn, wanted, command, made, apply_from)
    return made


def approve(
    connection: Connection, proposal_id: UUID, command: Command
) -> Outcome[Reference] | RetractedCard:
    """Applies a waiting proposal.

    Raises a 404 problem for an unknown one and for one out of reach, and 409 for one that was answered. A proposal
    quotes a turn of any mode, so it is out of reach of a key that is limited to modes.
    """
    with connection.transaction():
        row = _waiting(connection, proposal_id, command)
        approved = ReferenceProposalAccepted(proposal_id=proposal_id, by=_by(command))
        if row["kind"] == retractions.KIND:
            retracted = retractions.retract(connection, proposal_id, row["op"], command)
            _answer(connection, approved, command)
            return retracted
        name = ReferenceName(
            kind=row["kind"], key=row["key"], project_id=row["project_id"], team_id=row["team_id"]
        )
        proposed = replace(
            command,
            idempotency_key=f"accept/{proposal_id}",
            turn_ids=tuple(row["turn_ids"]),
            derived=True,
            confidence=row["confidence"],
            quote=row["quote"],
        )
        outcome = _apply(connection, name, row["op"], proposed)
        _answer(connection, approved, command)
    return outcome


def refuse(connection: Connection, proposal_id: UUID, reason: str | None, command: Command) -> None:
    """Refuses a waiting proposal. Raises the problems of :func:`approve`."""
    with connection.transaction():
        _waiting(connection, proposal_id, command)
        refused = ReferenceProposalRefused(proposal_id=proposal_id, by=_by(command), reason=reason)
        _answer(connection, refused, command)


def _propose_one(
    connection: Connection, turn: Event, wanted: _ProposedOp, command: Command, number: int, apply_from: float
) -> None:
    applied = False
    if wanted.confidence >= apply_from:
        try:
            with connection.transaction():
                _apply(connection, wanted.name, wanted.op, command)
            applied = True
        except ProblemError:
            # The list changed meanwhile, or the op does not fit. A person decides.
            applied = False
    proposed = ReferenceProposed(
        name=wanted.name,
        op=dict(wanted.op),
        confidence=wanted.confidence,
        quote=command.quote or "",
        turn_ids=command.turn_ids,
        applied=applied,
    )
    key = f"proposed/{command.turn_ids[0]}/{number}"
    event = command.event(STREAM, proposed, dedupe_key=key, causation_id=turn.event_id)
    log.append(connection, [event])


def _apply(
    connection: Connection, name: ReferenceName, op: Mapping[str, object], command: Command
) -> Outcome[Reference]:
    kind = kind_of(connection, tenant_of(command.owner), name.kind)
    stream = ReferenceStream(connection, name, command)
    present = stream.load()
    if present is None or present.moved_to is not None:
        unnamed = replace(command, idempotency_key=None)
        reference_commands.create(ReferenceStream(connection, name, unnamed), kind, None, "session")
    return reference_commands.apply(stream, kind, op)


def _wanted(
    request: ListRequest, item: str, lists: Mapping[str, Reference], project_id: str | None
) -> _ProposedOp | None:
    """Returns the op that a request means. None: it names an item or a list that is not there."""
    key = list_key(request.list_name)
    found = lists.get(key) if key else next(iter(lists.values()), None) if len(lists) == 1 else None
    if request.op == "add":
        op: dict[str, object] = {"op": "add", "text": item}
    else:
        items = [] if found is None else found.data["items"]
        fitting = [
            each
            for each in items
            if _same(each["text"], item) and (request.op == "remove" or not each["done"])
        ]
        if len(fitting) != 1:
            return None
        op = {"op": request.op, "item_id": fitting[0]["id"]}
    if found is not None:
        return _ProposedOp(found.name, op, KNOWN_LIST if key else UNCLEAR)
    name = ReferenceName(kind=KIND, key=new_key(request.list_name), project_id=project_id)
    return _ProposedOp(name, op, NEW_LIST if key and request.own else UNCLEAR)


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _lists(connection: Connection, owner: str, project_id: str | None) -> dict[str, Reference]:
    """Returns the lists in force of a user and of one project, by plain key. A name of two lists means neither."""
    rows = rows_if_folded(connection, statement(_PACKAGE, "own_lists"), {"user_id": owner, "kind": KIND})
    found: dict[str, list[Reference]] = {}
    for row in rows:
        listed = reference_of(row)
        # The tables may be behind the log.
        present = current(connection, owner, listed.stream)
        if (
            present is not None
            and not present.archived
            and present.moved_to is None
            and present.name.project_id in (None, project_id)
        ):
            found.setdefault(list_key(present.name.key), []).append(present)
    return {key: several[0] for key, several in found.items() if len(several) == 1}


def _waiting(connection: Connection, proposal_id: UUID, command: Command) -> Row:
    values, reach = {"user_id": command.owner, "proposal_id": proposal_id}, command.reach
    row = next(iter(rows_if_folded(connection, statement(_PACKAGE, "proposal"), values)), None)
    if (
        row is None
        or reach.modes is not None
        or not Reach(projects=reach.projects).admits(row["project_id"] or "default", None)
    ):
        raise missing("proposal", "proposal_id")
    if row["status"] != "waiting" or first_event(connection, command.owner, _answer_key(proposal_id)):
        raise ProblemError(409, "Answered", "the proposal has an answer already", field="proposal_id")
    return row


def _answer(
    connection: Connection,
    answer: ReferenceProposalAccepted | ReferenceProposalRefused,
    command: Command,
) -> None:
    key = _answer_key(answer.proposal_id)
    log.append(connection, [command.event(STREAM, answer, dedupe_key=key)])


def _answer_key(proposal_id: UUID) -> str:
    return f"proposal-answer/{proposal_id}"


def _by(command: Command) -> str:
    return command.actor.removeprefix("user/")
