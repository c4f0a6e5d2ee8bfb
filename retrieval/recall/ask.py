"""One question as it was asked, with the clock and the modes that it means."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import psycopg

from events.platform.failures import retry_on_lost_connection
from events.platform.modes import GENERAL_MODE
from retrieval.cards.told_times import on_clock, zone_of
from retrieval.modes import ModeReader
from retrieval.query.scope import KINDS, Scope
from retrieval.recall.user_sizes import UserSizes

_MODES_WITHIN_S = 0.5
_BY_RANK = (
    "several modes were searched: every mode has a list of its own, and the lists are joined by rank, because the "
    "similarities of different modes cannot be compared"
)


class ModeUnknownError(ValueError):
    """The question names a mode that nobody declared. ``allowed`` are the declared ones."""

    def __init__(self, name: str, allowed: Sequence[str]) -> None:
        super().__init__(f"{name!r} is unknown; use one of {', '.join(allowed) or 'a mode of this key'}")
        self.allowed = allowed


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question. ``now`` is aware. ``projects`` or ``layers`` None means all of them.

    ``modes`` None means the default mode of the one project. Without a default it means all modes, and the recent mode
    of the session ``session_id`` first. ``across`` says that all modes were asked for. ``timezone`` is the IANA zone of
    the asker, whose "yesterday" is meant.
    ``told_modes`` are the modes that the asker may know of; None: all of them. ``insights``: insights may answer too.
    """

    user_id: str
    query: str
    now: datetime
    projects: tuple[str, ...] | None = ("default",)
    k: int = 5
    as_of: datetime | None = None
    known_at: datetime | None = None
    kinds: tuple[str, ...] = KINDS
    insights: bool = True
    context_layer: str | None = None
    layers: tuple[str, ...] | None = None
    metadata: str | None = None
    modes: tuple[str, ...] | None = None
    across: bool = False
    session_id: str | None = None
    explain: bool = False
    timezone: str | None = None
    told_modes: frozenset[str] | None = None


async def local_time(sizes: UserSizes, ask: Ask) -> tuple[datetime, tuple[str, ...]]:
    """Returns the instant of the question on the asker's clock, and warnings.

    The clock is the named time zone, else the offset of ``as_of`` unless it is zero, else the clock of the user's
    latest event, else UTC.
    """
    now = ask.as_of or ask.now
    if ask.timezone is not None or now.utcoffset():
        return (now if ask.timezone is None else on_clock(now, zone_of(ask.timezone))), ()
    try:
        return on_clock(now, zone_of(await sizes.zone_of(ask.user_id))), ()
    except psycopg.Error:
        return now, ("the user's time zone cannot be looked up; the days of the question are those of UTC",)


async def in_modes(
    modes: ModeReader, scope: Scope, ask: Ask, *, moded: bool
) -> tuple[Scope, tuple[str, ...]]:
    """Returns the scope with the modes of the user, and warnings. Without ``moded`` the user has no modes.

    Raises :class:`ModeUnknownError` when the installation declares modes and the question names another one.
    """
    try:
        known = modes.nobodys
        if moded:
            known = await retry_on_lost_connection(modes.of, ask.user_id, _MODES_WITHIN_S)
        first = None
        if ask.session_id is not None and ask.modes is None and not ask.across and known:
            recent = await retry_on_lost_connection(
                modes.recent, ask.user_id, ask.session_id, _MODES_WITHIN_S
            )
            first = None if recent is None else known.belonging(*recent)
    except (psycopg.Error, TimeoutError):
        return replace(scope, modes=ask.modes), (
            "the user's modes cannot be read; only names of modes as cards have them are found",
        )
    scope = replace(scope, known_modes=known, first_mode=first)
    project = ask.projects[0] if ask.projects is not None and len(ask.projects) == 1 else ""
    if ask.modes is None:
        default = None if ask.across or not project else known.default(project)
        if default is not None:
            return replace(scope, modes=(default,), first_mode=None), ()
        return scope, (_BY_RANK,) if ask.across else ()
    meant = tuple(dict.fromkeys(known.meaning(project, name) for name in ask.modes))
    names = dict.fromkeys((GENERAL_MODE, *(each.name for each in known.in_force(project))))
    names |= dict.fromkeys(each.name for each in known.registry.modes if not each.deleted)
    unknown = [name for name in meant if name not in names]
    told = [name for name in names if ask.told_modes is None or name in ask.told_modes]
    if unknown and modes.closed:
        raise ModeUnknownError(unknown[0], told)
    warnings = tuple(
        f"the mode {name} is not declared, so only cards of turns with this very mode answer; "
        f"declared are {', '.join(told) or 'others'}"
        + ('; for every mode, ask with modes: "all"' if name == "all" else "")
        for name in unknown
    )
    if len(meant) > 1:
        warnings += (_BY_RANK,)
    return replace(scope, modes=meant), warnings
