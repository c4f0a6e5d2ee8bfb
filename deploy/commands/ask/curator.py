"""``cardlog curator``: shows what the curator added to a user's memory, runs it now, and undoes a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import Verbs, argument, option

if TYPE_CHECKING:
    from cardlog_client import types

app = App(name="curator", help="what the curator added to a user's memory: log, run, undo")
verbs = Verbs(app)


def _lines(run: types.CuratorRun) -> Iterator[str]:
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


verbs.pages(
    "log", "list the runs of the curator, the last first", Client.curator_runs,
    verbs.options, most=500, items="runs", lines=_lines, none="the curator added nothing for {user}",
)  # fmt: skip
verbs.call(
    "run", "curate the memory of a user now", Client.run_curator,
    option("dry_run", bool, "only show what would be added", False, name="--dry-run", negative=""),
    lines=_lines,
)  # fmt: skip
verbs.call(
    "undo", "take back what a run added; it is not added again", Client.undo_run,
    argument("run", UUID, "the run's id, as listed"),
    argument("reason", str, "why"),
    lines=_lines,
)  # fmt: skip
