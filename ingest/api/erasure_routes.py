"""Erasures over HTTP: users, persons and turns, and the receipts."""

from collections.abc import Callable
from typing import Annotated

import psycopg
from fastapi import APIRouter, Path, Query

from events.access.principal import NotYoursError, Principal
from events.http.access import Administrator, Writer, require_user, require_whole
from events.http.answering import routes_of
from events.http.database import problem_of
from events.http.errors import ProblemError, invalid
from events.http.fields import Uuid, text_given
from events.platform.database import Connection
from events.resources.operating import Erasure
from events.types.tenancy import tenant_of
from events.types.turn_contract import MAX_NAME_BYTES
from ingest.erasure import subjects
from ingest.erasure.erasure import Eraser, ErasureRefusedError, Terms, users_of
from ingest.erasure.names import NameInvalidError
from ingest.erasure.receipts import reaches, receipt_of
from ingest.erasure.subjects import Outcome

_LONGEST: dict[str, object] = {"max_length": MAX_NAME_BYTES, "pattern": r"\S"}
DryRun = Annotated[bool, Query(description="erase nothing, and count what would go")]


def erasure_router(connect: Callable[[], Connection], eraser: Callable[[], Eraser]) -> APIRouter:
    """Returns the routes of erasures. They answer 503 while Postgres is away.

    The connections of ``connect`` see every tenant: an erasure looks for its subject in the memories of many users.
    """
    router = routes_of("erasure")

    def answer(work: Callable[[Connection], Outcome], *, dry_run: bool, field: str) -> Erasure:
        try:
            with connect() as connection:
                outcome = work(connection)
                if dry_run:
                    if not outcome.users:
                        raise _missing(field)
                    return Erasure(**outcome.document())
                receipt = receipt_of(connection, outcome.erasure_id)
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error
        except ErasureRefusedError as error:
            raise ProblemError(409, "Not erased", str(error)) from error
        except NameInvalidError as error:
            raise invalid(field, str(error)) from error
        if receipt is None:
            raise _missing(field)
        return Erasure(**receipt, names=sorted(outcome.names) or None)

    @router.delete(
        "/v1/users/{user_id}", summary="Erase a user: every word, and everything that was made of them"
    )
    def erase_user(
        caller: Administrator,
        user_id: Annotated[str, Path(min_length=1, **_LONGEST)],
        dry_run: DryRun = False,
    ) -> Erasure:
        storage_id = _storage_id(caller, user_id, "user_id")
        return answer(
            lambda connection: subjects.erase_user(eraser(), connection, storage_id, _terms(caller, dry_run)),
            dry_run=dry_run,
            field="user_id",
        )

    @router.delete(
        "/v1/people/{name}",
        summary="Erase a person who is spoken of: every turn that names the person, and everything made of it",
    )
    def erase_person(
        caller: Administrator,
        name: Annotated[str, Path(min_length=1, description="a name, or a person_id", **_LONGEST)],
        user_id: Annotated[
            str | None, Query(min_length=1, description="only in the memory of this user", **_LONGEST)
        ] = None,
        alias: Annotated[
            list[str] | None, Query(max_length=20, description="another name of the person")
        ] = None,
        dry_run: DryRun = False,
    ) -> Erasure:
        only = None if user_id is None else _storage_id(caller, user_id, "name")

        def work(connection: Connection) -> Outcome:
            require_whole(caller)
            users = [only] if only is not None else _users(connection, caller)
            names = [text_given("name", name), *(text_given("alias", each) for each in alias or ())]
            return subjects.erase_person(eraser(), connection, names, users, _terms(caller, dry_run))

        return answer(work, dry_run=dry_run, field="name")

    @router.delete("/v1/turns/{turn_id}", summary="Erase one turn, and everything that was made of it")
    def erase_turn(
        caller: Writer,
        turn_id: Annotated[str, Path(min_length=1, **_LONGEST)],
        user_id: Annotated[str, Query(min_length=1, description="whose turn this is", **_LONGEST)],
        dry_run: DryRun = False,
    ) -> Erasure:
        storage_id = _storage_id(caller, user_id, "turn_id")
        _require_overruling(caller, "turn_id")
        text_id = text_given("turn_id", turn_id)
        return answer(
            lambda connection: subjects.erase_turn(
                eraser(), connection, storage_id, text_id, _terms(caller, dry_run)
            ),
            dry_run=dry_run,
            field="turn_id",
        )

    @router.get(
        "/v1/erasures/{erasure_id}",
        summary="The receipt of an erasure, as of now",
        operation_id="erasure_receipt",
    )
    def receipt(caller: Administrator, erasure_id: Uuid) -> Erasure:
        try:
            with connect() as connection:
                mine = reaches(connection, erasure_id, caller)
                found = receipt_of(connection, erasure_id) if mine else None
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error
        if found is None:
            raise _missing(
                "erasure_id",
                "there is no erasure of this id; after a restore from an older backup run: cardlog erase --replay",
            )
        return Erasure(**found)

    return router


def _users(connection: Connection, caller: Principal) -> list[str]:
    """Returns the users of the caller's tenant that the caller may name."""
    found = users_of(connection, caller.tenant)
    if caller.users is None:
        return found
    allowed = {caller.storage_id(user_id) for user_id in caller.users}
    return [
        storage_id for storage_id in found if storage_id in allowed and tenant_of(storage_id) == caller.tenant
    ]


def _storage_id(caller: Principal, user_id: str, field: str) -> str:
    """Returns the storage id of a user. For another's user it raises the problem of a missing ``field``, and a 403
    problem for a key that is limited to projects or modes: an erasure takes words of all of them."""
    require_whole(caller)
    try:
        return caller.storage_id(text_given("user_id", user_id))
    except NotYoursError:
        raise _missing(field) from None


def _require_overruling(caller: Principal, field: str) -> None:
    """Raises a 403 problem for a key that may not retract what a user stated, unless it may erase the user."""
    if not caller.may("admin"):
        require_user(caller, field)


def _missing(field: str, why: str = "there is nothing of this name to erase") -> ProblemError:
    return ProblemError(404, "Not found", why, field=field)


def _terms(caller: Principal, dry_run: bool) -> Terms:
    return Terms(by=caller.key_id or "anybody", dry_run=dry_run)
