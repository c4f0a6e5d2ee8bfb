"""The verbs of ``cardlog``. A verb's module is imported when the verb is used, and not before."""

from __future__ import annotations

COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("up", "run.up:up", "run everything: servers, workers, both services"),
    ("push", "run.push:push", "push turns from a JSONL file onto the queue"),
    ("wait", "run.wait:wait", "wait until everything pushed so far is projected"),
    ("recall", "ask.recall:recall", "ask a question"),
    ("context", "ask.context:context", "print the prompt for a question"),
    ("arbitrations", "ask.arbitrations:app", "conflicts that wait for a verdict: list, show, rule"),
    ("status", "operate.status:status", "how far every stage is"),
    ("doctor", "operate.doctor:doctor", "check servers, extensions and the embedding model"),
    ("settings", "operate.settings:list_settings", "list every setting"),
    ("top", "operate.top:top", "the stages, live in a terminal"),
    ("log", "operate.log:app", "look at the log, verify it, export and import it"),
    ("parked", "operate.parked:app", "users a projection went on without: list, show, retry, drop"),
    ("dead", "operate.dead:app", "turns that broke the contract: list, show, retry, drop"),
    ("rebuild", "operate.rebuild:rebuild", "make a projection's tables anew from the log, and swap them in"),
    ("rollback", "operate.rollback:rollback", "return to the generation that was live before"),
    (
        "generations",
        "operate.generations:generations",
        "list the generations of every projection, drop old ones",
    ),
    ("digest", "operate.digest:digest", "digests of the live tables, with the position they stand at"),
    ("reextract", "operate.reextract:reextract", "read old turns again, with today's prompt and model"),
    (
        "concepts",
        "ask.concepts:concepts",
        "list the keys facts are filed under, and those that look like one",
    ),
    ("when", "ask.when:when", "show which times a text names"),
    (
        "grant",
        "operate.grant:grant",
        "give a PostgreSQL role the rights of workers and services, and no more",
    ),
    ("eval", "measure.evaluate:app", "measure how well turns are understood"),
    ("work", "run.work:work", "run one worker: recorder, extractor, projector, vectors or relay"),
    ("serve", "run.serve:serve", "run one service: write or read"),
    ("capacity", "measure.capacity:capacity", "what it takes to carry so many users"),
    ("demo", "run.demo:demo", "show the whole way on a small conversation"),
    ("completion", "completion:completion", "print a shell's completion script"),
)
"""Every verb: its name, ``module:attribute`` in this package, and one line for the list of verbs."""
