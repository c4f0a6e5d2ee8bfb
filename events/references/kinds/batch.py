"""The op ``batch`` of every kind: several ops that are applied in order, all or none, as one version."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from events.references.kinds.kind import Kind, Op, ReferenceInvalidError
from events.types.json_values import Json

BATCH = "batch"
MAX_OPS = 100


def ops_of(kind: Kind) -> tuple[str, ...]:
    """Returns the names of all ops of a kind."""
    return (*kind.ops, BATCH)


def completed(kind: Kind, op: Op, *, at: str, new_id: Callable[[], str]) -> Op:
    """Returns ``op`` as the log keeps it. Raises :class:`ReferenceInvalidError` with the place of a bad op."""
    if op.get("op") != BATCH:
        try:
            return kind.complete(op, at=at, new_id=new_id())
        except ReferenceInvalidError as error:
            if error.field == "op" and error.allowed is not None:
                raise ReferenceInvalidError(
                    "op", f"{error.reason}, {BATCH}", [*error.allowed, BATCH]
                ) from None
            raise
    for name in op:
        if name not in ("op", "ops"):
            raise ReferenceInvalidError(name[:100], f"is no argument of {BATCH}; it has ops", ["ops"])
    given = op.get("ops")
    if not isinstance(given, list) or not given:
        raise ReferenceInvalidError("ops", "must be a list of ops, each an object with op and its arguments")
    if len(given) > MAX_OPS:
        raise ReferenceInvalidError("ops", f"holds {len(given)} ops; at most {MAX_OPS} are allowed")
    return {
        "op": BATCH,
        "ops": [_one(kind, index, each, at, new_id) for index, each in enumerate(given)],
        "at": at,
    }


def applied(kind: Kind, data: Json, op: Op) -> Json:
    """Returns the data after a completed op. Raises :class:`ReferenceInvalidError` with the place of a bad op."""
    if op["op"] != BATCH:
        return kind.apply(data, op)
    for index, each in enumerate(op["ops"]):
        with _at(index):
            data = kind.apply(data, each)
    return data


def targets(kind: Kind, op: Op) -> frozenset[str]:
    """Returns the targets of the op, as :meth:`Kind.targets` does."""
    if op["op"] != BATCH:
        return kind.targets(op)
    return frozenset().union(*(kind.targets(each) for each in op["ops"]))


def is_repeat(kept: Op, given: Op) -> bool:
    """True when ``given`` may have become ``kept`` in the log: every given argument is kept unchanged."""
    if given.get("op") != BATCH or kept.get("op") != BATCH:
        return all(kept.get(name) == value for name, value in given.items() if name != "due")
    ops: object = given.get("ops")
    return (
        isinstance(ops, list)
        and len(ops) == len(kept["ops"])
        and all(
            isinstance(each, dict) and is_repeat(one, each)
            for one, each in zip(kept["ops"], ops, strict=True)
        )
    )


def _one(kind: Kind, index: int, op: object, at: str, new_id: Callable[[], str]) -> Op:
    if not isinstance(op, dict):
        raise ReferenceInvalidError(f"ops/{index}", "must be an object with op and its arguments")
    with _at(index):
        return kind.complete(op, at=at, new_id=new_id())


@contextmanager
def _at(index: int) -> Iterator[None]:
    """Adds the place of an op to the field of an error."""
    try:
        yield
    except ReferenceInvalidError as error:
        raise ReferenceInvalidError(f"ops/{index}/{error.field}", error.reason, error.allowed) from None
