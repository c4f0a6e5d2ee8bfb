"""LangGraph's store, kept in Cardlog. Needs the package ``langgraph-checkpoint``: ``pip install 'cardlog[langgraph]'``.

An item is a reference of the kind ``store_item``. A put is therefore a version that can be read and brought back, a
search ranks by a recall, and an erasure of the user removes the items.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from cardlog_client.client import Client
from cardlog_client.errors import RefusedError
from cardlog_client.reference_values import MOST_KEY_BYTES, ReferenceValues, Steps, run
from cardlog_client.types import Reference

KIND = "store_item"
"""The kind of reference that an item is. Its data hold the ``value`` and what the store needs to know of it."""

Namespace = tuple[str, ...]
_RANKED = 200
_TRIES = 5
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda own, given: own > given,
    "$gte": lambda own, given: own >= given,
    "$lt": lambda own, given: own < given,
    "$lte": lambda own, given: own <= given,
}


class CardlogStore(BaseStore):
    """The items of ``user_id``, for ``graph.compile(store=…)``.

    ``user_id`` may be a function from a namespace, or the prefix of a search, to the user whose items they are:
    ``lambda namespace: namespace[1]``. Then each user has a history, a limit and an erasure of their own.

    Reads see each earlier write. In a batch, the reads come before the puts, and the last put of an item counts. A
    search with a ``query`` has the items first that a recall finds among its 200 best references, with the score of the
    recall; the other items follow without a score. A search without one has the latest items
    first. ``index=False`` leaves an item unranked, and other values of ``index`` have no effect, because Cardlog embeds
    whole items.

    A ``ttl`` is in minutes, and its clock is that of this process. An expired item is absent at once; :meth:`sweep_ttl`
    archives it. ``refresh_on_read`` renews a ttl when a tenth of it is used up.

    Raises :class:`CardlogError`. An item has at most 16 KiB, and a user 5,000 references. The first item of a Cardlog
    declares the kind, for which the API key must not be limited to users.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client,
        user_id: str | Callable[[Namespace], str],
        *,
        project_id: str | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        super().__init__()
        self.ttl_config = ttl
        self._client = client
        self._user_of = (lambda _: user_id) if isinstance(user_id, str) else user_id
        self._project = project_id
        self._of_users: dict[str, ReferenceValues] = {}

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Answers the ops in their order: an item or None, found items, namespaces, or None for a put."""
        results: list[Any] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        listed: dict[str, list[_Stored]] = {}

        def items_of(prefix: Namespace) -> list[_Stored]:
            values = self._values(prefix)
            if values.user_id not in listed:
                listed[values.user_id] = _live(run(self._client, values.listed()))
            return listed[values.user_id]

        for op in ops:
            validate_op_namespace(op)
            answer: object = None
            if isinstance(op, GetOp):
                answer = self._get(op)
            elif isinstance(op, SearchOp):
                answer = self._search(op, items_of(tuple(op.namespace_prefix)))
            elif isinstance(op, ListNamespacesOp):
                answer = _namespaces(op, items_of(_prefix_of(op.match_conditions or ())))
            elif isinstance(op, PutOp):
                puts[tuple(op.namespace), op.key] = op
            else:
                raise TypeError(
                    f"{type(op).__name__} is no op of a store; use GetOp, SearchOp, ListNamespacesOp or PutOp"
                )
            results.append(answer)
        for (namespace, key), op in puts.items():
            run(self._client, self._put(namespace, key, op))
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """The same in a thread, so that the event loop goes on."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self, prefix: Namespace = ()) -> int:
        """Archives the expired items of the user of ``prefix``. Returns their number."""
        values, now = self._values(prefix), datetime.now(UTC)
        expired = [each for each in map(_stored, run(self._client, values.listed())) if each.is_expired(now)]
        for each in expired:
            run(self._client, values.archived(each.reference))
        return len(expired)

    def _get(self, op: GetOp) -> Item | None:
        values = self._values(tuple(op.namespace))
        found = run(self._client, values.present(_key(tuple(op.namespace), op.key)))
        for each in _live([found] if found else []):
            self._refresh([each], op.refresh_ttl)
            return Item(**each.fields)
        return None

    def _search(self, op: SearchOp, items: list[_Stored]) -> list[SearchItem]:
        prefix = tuple(op.namespace_prefix)
        found = [
            each
            for each in items
            if each.namespace[: len(prefix)] == prefix and _fits(each.value, op.filter or {})
        ]
        found.sort(key=lambda each: each.updated_at, reverse=True)
        scores: dict[str, float] = {}
        if op.query and op.query.strip() and found:
            scores = self._scores(self._values(prefix), op.query)
            places = {reference: place for place, reference in enumerate(scores)}
            found.sort(key=lambda each: (not each.indexed, places.get(each.reference, _RANKED)))
        found = found[op.offset : op.offset + op.limit]
        self._refresh(found, op.refresh_ttl)
        return [
            SearchItem(**each.fields, score=scores.get(each.reference) if each.indexed else None)
            for each in found
        ]

    def _scores(self, values: ReferenceValues, query: str) -> dict[str, float]:
        """Returns the scores of the references that a recall finds, which sees the writes of this store."""
        asked = {"kinds": ["reference"], "k": _RANKED, "project_id": self._project, "wait_for": values.token}
        answer = self._client.recall(values.user_id, query, **asked)
        return {str(card["title"]): card["score"] for card in answer["cards"]}

    def _put(self, namespace: Namespace, key: str, op: PutOp) -> Steps[None]:
        values, name = self._values(namespace), _key(namespace, key)
        if op.value is None:
            try:
                yield from values.archived(name)
            except RefusedError as error:
                if error.status != 404:
                    raise
            return
        data: dict[str, object] = {"value": op.value}
        if op.index is False:
            data["index"] = False
        if op.ttl is not None:
            now = datetime.now(UTC)
            data |= {"ttl": op.ttl, "put_at": now.isoformat(), "expires_at": _after(now, op.ttl)}
        if name.startswith("%~"):
            data |= {"namespace": list(namespace), "key": key}
        for tries in range(_TRIES):
            try:
                yield from values.set(name, data)
            except RefusedError as error:
                if error.status not in (404, 409) or tries == _TRIES - 1:
                    raise
                if not (yield from values.created(name, data)):
                    continue
            return

    def _refresh(self, items: list[_Stored], wanted: bool) -> None:
        now = datetime.now(UTC)
        for each in items if wanted else ():
            if each.ttl is None or each.expires_at is None:
                continue
            if now + timedelta(minutes=each.ttl * 0.9) > each.expires_at:
                renewed = _after(now, each.ttl)
                set_ = self._values(each.namespace).set(each.reference, renewed, each.version, "/expires_at")
                try:
                    run(self._client, set_)
                except RefusedError as error:
                    if error.status not in (404, 409):  # somebody changed or deleted the item meanwhile
                        raise

    def _values(self, namespace: Namespace) -> ReferenceValues:
        user = self._user_of(namespace)
        if user not in self._of_users:
            about = "an item of a LangGraph store"
            made = ReferenceValues(user, KIND, {"type": "object"}, {"value": {}}, about, self._project)
            self._of_users[user] = made
        return self._of_users[user]


@dataclass(frozen=True, slots=True)
class _Stored:
    """An item as its reference holds it."""

    reference: str
    version: int
    namespace: Namespace
    key: str
    value: dict[str, object]
    created_at: datetime
    updated_at: datetime
    indexed: bool
    ttl: float | None
    expires_at: datetime | None

    @property
    def fields(self) -> dict[str, Any]:
        names = ("namespace", "key", "value", "created_at", "updated_at")
        return {name: getattr(self, name) for name in names}

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


def _stored(reference: Reference) -> _Stored:
    data = reference["data"]
    namespace, key = _name(reference["key"])
    if "namespace" in data:
        namespace, key = tuple(data["namespace"]), data["key"]
    expires = data.get("expires_at")
    return _Stored(
        reference=reference["key"],
        version=reference["version"],
        namespace=namespace,
        key=key,
        value=data["value"],
        created_at=datetime.fromisoformat(reference["created_at"]),
        updated_at=datetime.fromisoformat(data.get("put_at") or reference["updated_at"]),
        indexed=data.get("index") is not False,
        ttl=data.get("ttl"),
        expires_at=datetime.fromisoformat(expires) if expires else None,
    )


def _live(references: Iterable[Reference]) -> list[_Stored]:
    now = datetime.now(UTC)
    return [each for each in map(_stored, references) if not each.is_expired(now)]


def _after(now: datetime, minutes: float) -> str:
    return (now + timedelta(minutes=minutes)).isoformat()


def _key(namespace: Namespace, key: str) -> str:
    """Returns the key of the reference: ``label.label:key``, or a digest after ``%~`` when that is too long.

    Different names have different keys, because no label holds a dot or a colon and no part a slash.
    """
    name = f"{'.'.join(_encoded(label, '%./:') for label in namespace)}:{_encoded(key, '%/')}"
    if len(name.encode("utf-8", "replace")) <= MOST_KEY_BYTES:
        return name
    return f"%~{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _name(reference: str) -> tuple[Namespace, str]:
    labels, _, key = reference.partition(":")
    return tuple(map(_decoded, labels.split("."))), _decoded(key)


def _encoded(part: str, reserved: str) -> str:
    """Percent-encodes the reserved characters. The percent sign is the first one."""
    for each in reserved:
        part = part.replace(each, f"%{ord(each):02X}")
    return part


def _decoded(part: str) -> str:
    for each in ":/.%":
        part = part.replace(f"%{ord(each):02X}", each)
    return part


def _prefix_of(conditions: Sequence[MatchCondition]) -> Namespace:
    """Returns the labels before the first wildcard of a wanted prefix, by which a user is known."""
    for condition in conditions:
        if condition.match_type == "prefix":
            path = tuple(condition.path)
            return path[: path.index("*")] if "*" in path else path
    return ()


def _namespaces(op: ListNamespacesOp, items: list[_Stored]) -> list[Namespace]:
    matching = {
        each.namespace
        for each in items
        if all(_matches(each.namespace, one) for one in op.match_conditions or ())
    }
    if op.max_depth is not None:
        matching = {each[: op.max_depth] for each in matching}
    return sorted(matching)[op.offset : op.offset + op.limit]


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    """True when whole labels match: ``("a",)`` is no prefix of ``("ab",)``. A star matches one label."""
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(path)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    else:
        raise ValueError(f"match_type: {condition.match_type!r} is unknown; use prefix or suffix")
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))


def _fits(value: Mapping[str, object], wanted: Mapping[str, object]) -> bool:
    return all(_compares(_at(value, path), each) for path, each in wanted.items())


def _at(value: Mapping[str, object], path: str) -> object:
    """Returns the field with the name ``path``, or the one at the dotted path. None: there is none."""
    if path in value or "." not in path:
        return value.get(path)
    name, _, rest = path.partition(".")
    inner = value.get(name)
    return _at(inner, rest) if isinstance(inner, Mapping) else None


def _compares(own: object, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        if any(name.startswith("$") for name in wanted):
            return all(_operates(own, name, each) for name, each in wanted.items())
        return isinstance(own, Mapping) and all(
            _compares(own.get(name), each) for name, each in wanted.items()
        )
    if isinstance(own, bool) or isinstance(wanted, bool):
        return own is wanted
    return own == (list(wanted) if isinstance(wanted, tuple) else wanted)


def _operates(own: object, operator: str, wanted: object) -> bool:
    if operator in ("$eq", "$ne"):
        return _compares(own, wanted) is (operator == "$eq")
    if operator not in _OPERATORS:
        raise ValueError(f"filter: {operator} is unknown; use $eq, $ne, $gt, $gte, $lt or $lte")
    numbers = isinstance(own, int | float) and isinstance(wanted, int | float)
    texts = isinstance(own, str) and isinstance(wanted, str)
    return (numbers or texts) and _OPERATORS[operator](own, wanted)
