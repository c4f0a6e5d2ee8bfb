"""The verbs of ``cardlog``. The module of a verb is imported only when the verb is used."""

from __future__ import annotations

COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("up", "run.up:up", "run everything: servers, workers, both services"),
    ("push", "run.push:push", "push turns from a JSONL file onto the queue"),
    ("wait", "run.wait:wait", "wait until everything pushed so far is projected"),
    ("recall", "ask.recall:recall", "ask a question"),
    ("context", "ask.context:context", "print the prompt for a question"),
    ("arbitrations", "ask.arbitrations:app", "conflicts that wait for a verdict: list, show, rule"),
    ("status", "operate.status:status", "show the health and the lag of every stage"),
    ("doctor", "operate.doctor:doctor", "check servers, extensions and the embedding model"),
    ("settings", "operate.settings:list_settings", "list every setting"),
    ("top", "operate.top:top", "show the stages live in a terminal"),
    ("log", "operate.log:app", "show the log, verify it, export and import it"),
    ("parked", "operate.parked:app", "users whose events are parked: list, show, retry, drop"),
    ("dead", "operate.dead:app", "turns that broke the contract: list, show, retry, drop"),
    ("rebuild", "operate.rebuild:rebuild", "rebuild a projection from the log, and swap it in"),
    ("rollback", "operate.rollback:rollback", "return to the generation that was live before"),
    (
        "generations",
        "operate.generations:generations",
        "list the generations of every projection, drop old ones",
    ),
    ("digest", "operate.digest:digest", "print digests of the live tables, with their checkpoints"),
    ("reextract", "operate.reextract:reextract", "read old turns again with the current prompt and model"),
    (
        "concepts",
        "ask.concepts:concepts",
        "list the concept keys, and keys that look like the same concept",
    ),
    ("when", "ask.when:when", "show the times that a text names"),
    (
        "grant",
        "operate.grant:grant",
        "give a PostgreSQL role only the rights of workers and services",
    ),
    ("eval", "measure.evaluate:app", "measure how well turns are understood"),
    ("work", "run.work:work", "run one worker: recorder, extractor, projector, vectors or relay"),
    ("serve", "run.serve:serve", "run one service: write or read"),
    ("capacity", "measure.capacity:capacity", "compute the processes and servers for a number of users"),
    ("demo", "run.demo:demo", "start everything and show a small conversation"),
    ("completion", "completion:completion", "print a shell's completion script"),
)
"""Every verb: its name, ``module:attribute`` in this package, and one line for the list of verbs."""
