"""``cardlog reembed``: embeds the cards with the embedder of the settings, and swaps the vectors in."""

from __future__ import annotations

import json
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from deploy.commands.replay.rebuild import ProgressPrinter, interrupt
from deploy.instance import find
from deploy.options import Given, Json
from events.platform.database import connect, migrate
from events.platform.modes import GENERAL_MODE
from events.platform.settings import Settings, SettingsError
from events.platform.sql import statement


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a re-embedding would do.

    ``other`` of the ``cards`` have vectors of another embedder than they should. ``added`` are modes whose embedder is
    new: some of the other cards may be theirs. ``seconds`` is for this machine as it is now.
    """

    slots: dict[str, dict[str, str]]
    cards: int
    other: int
    added: tuple[str, ...]
    texts_per_s: float | None
    seconds: float | None
    model_calls: int = 0


def reembed(
    *,
    mode: Annotated[
        str | None,
        Parameter(metavar="MODE", help="only the cards of this mode (general: all without a model)"),
    ] = None,
    dry_run: Annotated[bool, Parameter(help="only say what would be done, with its time and cost")] = False,
    as_json: Json = False,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Embed the cards with the embedder of the settings.

    The cards keep their words, and no language model is called. Recall uses the old vectors until all new ones exist.
    One transaction then swaps them, and `cardlog rollback vectors` returns to the old ones. A stopped run continues
    where it stopped, because computed vectors are kept. New cards are embedded by the old embedder until the swap.
    Exit status: 0 done or nothing to do, 1 failed.
    """
    from projectors.embedding.embedders import (  # noqa: PLC0415 - numpy comes with it
        Embedders,
        Space,
        embedders_of,
        is_of_model,
    )
    from projectors.generations.generations import ensure_live, use_schema  # noqa: PLC0415
    from projectors.rebuild.rebuild import Rebuild  # noqa: PLC0415
    from projectors.vectors.projector import VectorsProjector  # noqa: PLC0415
    from projectors.vectors.spaces import live_spaces  # noqa: PLC0415

    signal.signal(signal.SIGTERM, interrupt)
    settings, _ = find(settings, data)
    embedders: Embedders = embedders_of(settings)
    slot = None if mode is None else embedders.slot(None if mode == GENERAL_MODE else mode)
    if mode not in {None, GENERAL_MODE} and not slot:
        raise SettingsError(
            f"the mode {mode} has no embedder of its own; name it in CARDLOG_MODES, or use general"
        )
    with connect(settings.admin_database_url or settings.database_url, application="reembed") as connection:
        migrate(connection)
        ensure_live(connection, VectorsProjector(embedders))
        with connection.transaction():
            use_schema(connection, "vectors")
            live = live_spaces(connection)
        held: dict[str, int] = dict(
            connection.execute(statement("deploy.commands.operate", "vectors_by_model")).fetchall()
        )
    chosen = [each for each in embedders.slots if slot is None or each == slot]
    wanted = {each: embedders.of_slot(each) for each in chosen}
    if slot is None:
        wanted |= {name: embedders.of_slot(name) for name in live if is_of_model(name)}
    kept: dict[str, Space] = {name: space for name, space in live.items() if name not in wanted}
    plan = _plan(held, live, wanted, kept)
    _show(plan, as_json=as_json and dry_run)
    if dry_run or not (plan.other or plan.added):
        return 0
    printer = ProgressPrinter(as_json=as_json)
    try:
        outcome = Rebuild(settings, VectorsProjector(embedders, kept), workers=1, on_progress=printer).run()
    except KeyboardInterrupt:
        printer.end()
        print("stopped; the old vectors still answer, and the next run continues here", file=sys.stderr)
        raise
    finally:
        printer.end()
    if as_json:
        print(json.dumps({**asdict(plan), "generation": outcome.generation, "replaced": outcome.replaced}))
    else:
        print(
            f"vectors: generation {outcome.generation} is live after {outcome.seconds:.1f} s, {outcome.replaced} is "
            "kept; remove it with: cardlog generations --drop"
        )
    return 0


def _plan(held: dict[str, int], live: dict[str, Any], wanted: dict[str, Any], kept: dict[str, Any]) -> Plan:
    right = {embedder.fingerprint for embedder in wanted.values()} | {
        each.fingerprint for each in kept.values()
    }
    cards, other = sum(held.values()), sum(count for model, count in held.items() if model not in right)
    speed = None
    if other:
        from projectors.vectors.plan import texts_per_s  # noqa: PLC0415 - numpy comes with it

        speed = texts_per_s(next(iter(wanted.values())))
    slots = {
        slot or GENERAL_MODE: {
            "now": live[slot].fingerprint if slot in live else "",
            "then": embedder.fingerprint,
        }
        for slot, embedder in wanted.items()
    }
    return Plan(
        slots=slots,
        cards=cards,
        other=other,
        added=tuple(slot for slot in wanted if slot and slot not in live) if cards else (),
        texts_per_s=None if speed is None else round(speed, 1),
        seconds=None if speed is None else round(other / speed, 1),
    )


def _show(plan: Plan, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(plan)))
        return
    for name, each in plan.slots.items():
        print(f"{name}: {each['now'] or 'no vectors'} -> {each['then']}", file=sys.stderr)
    if plan.added:
        print(
            f"also the cards of {', '.join(plan.added)}, which have no embedder of their own yet",
            file=sys.stderr,
        )
    if not (plan.other or plan.added):
        print(f"nothing to do: all {plan.cards:,} vectors have their embedder", file=sys.stderr)
        return
    if not plan.other:
        return
    print(
        f"{plan.other:,} of {plan.cards:,} vectors are of another embedder: about {plan.seconds:,.0f} s at "
        f"{plan.texts_per_s:,.0f} texts/s; no call of a language model",
        file=sys.stderr,
    )
