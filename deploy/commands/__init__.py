"""The verbs of ``cardlog``. A verb's module is imported when the verb is used, and not before."""

from __future__ import annotations

COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("up", "up:up", "run everything: servers, workers, both services"),
    ("push", "push:push", "push turns from a JSONL file onto the queue"),
    ("wait", "wait:wait", "wait until everything pushed so far is projected"),
    ("recall", "recall:recall", "ask a question"),
    ("context", "context:context", "print the prompt for a question"),
    ("arbitrations", "arbitrations:app", "conflicts that wait for a verdict: list, show, rule"),
    ("status", "status:status", "how far every stage is"),
    ("doctor", "doctor:doctor", "check servers, extensions and the embedding model"),
    ("settings", "settings:list_settings", "list every setting"),
    ("top", "top:top", "the stages, live in a terminal"),
    ("log", "log:app", "look at the log, verify it, export and import it"),
    ("parked", "parked:app", "users a projection went on without: list, show, retry, drop"),
    ("dead", "dead:app", "turns that broke the contract: list, show, retry, drop"),
    ("rebuild", "rebuild:rebuild", "make a projection's tables anew from the log, and swap them in"),
    ("rollback", "rollback:rollback", "return to the generation that was live before"),
    ("generations", "generations:generations", "list the generations of every projection, drop old ones"),
    ("digest", "digest:digest", "digests of the live tables, with the position they stand at"),
    ("reextract", "reextract:reextract", "read old turns again, with today's prompt and model"),
    ("concepts", "concepts:concepts", "list the keys facts are filed under, and those that look like one"),
    ("when", "when:when", "show which times a text names"),
    ("grant", "grant:grant", "give a PostgreSQL role the rights of workers and services, and no more"),
    ("eval", "evaluate:app", "measure how well turns are understood"),
    ("work", "work:work", "run one worker: recorder, extractor, projector, vectors or relay"),
    ("serve", "serve:serve", "run one service: write or read"),
    ("capacity", "capacity:capacity", "what it takes to carry so many users"),
    ("demo", "demo:demo", "show the whole way on a small conversation"),
    ("completion", "completion:completion", "print a shell's completion script"),
)
"""Every verb: its name, ``module:attribute`` in this package, and one line for the list of verbs."""
