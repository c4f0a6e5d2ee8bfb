"""Every setting, in one place: environment variables ``CARDLOG_*`` with their defaults and meaning.

A setting comes from the first of these that gives it: the environment, the file ``.env`` of the working directory,
the file ``.env`` of the data folder, its default. pydantic-settings reads and checks them
(events/platform/settings_sources.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal

PREFIX = "CARDLOG_"
DATA, PROCESS = "CARDLOG_DATA", "CARDLOG_PROCESS"
OTHERS = frozenset((DATA, PROCESS))
"""Variables that the command reads and that are no settings."""

_MOST = 2**31 - 1
_LOGIN_IN_URL = re.compile(r"(?<=://)\S{1,512}@")
_PASSWORD_IN_WORDS = re.compile(r"(password\s*=\s*)('(?:\\.|[^'\\])*'|[^\s&]+)", re.IGNORECASE)


class SettingsError(ValueError):
    """A setting cannot be used; the message names the variable, its value and what is allowed."""


def redacted(text: str) -> str:
    """The text without the logins of its URLs, nor ``password=...``."""
    if "://" in text and "@" in text:
        text = _LOGIN_IN_URL.sub("***@", text)
    return _PASSWORD_IN_WORDS.sub(r"\1***", text) if "assword" in text.lower() else text


class Secret(str):
    """A text that programs can use and that no one reads by accident: printed and formatted, it is ``***``.

    :func:`revealed` gives the text itself.
    """

    __slots__ = ()

    def __new__(cls, text: str = "") -> Secret:
        return super().__new__(cls, revealed(text))

    def __repr__(self) -> str:
        return "'***'" if self else "''"

    def __str__(self) -> str:
        return "***" if self else ""

    def __format__(self, _spec: str) -> str:
        return str(self)


def revealed(text: str) -> str:
    """The text of a secret, for those who may read it; any other text as it is."""
    return str.__str__(text)


def _setting(
    default: Any,
    meaning: str,
    *,
    variable: str | None = None,
    secret: bool = False,
    least: int = 0,
    most: int = _MOST,
    form: str = "",
) -> Any:
    """A setting; numbers are ``least`` to ``most``, texts have the ``form`` that settings_sources.py knows."""
    told = {
        "meaning": meaning,
        "variable": variable,
        "secret": secret,
        "least": least,
        "most": most,
        "form": form,
    }
    return field(default=default, metadata=told)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a process was told. Read once at start; never from the environment afterwards."""

    database_url: str = _setting(
        "", "PostgreSQL to use; empty: an embedded server is started", secret=True, form="postgres"
    )
    admin_database_url: str = _setting(
        "",
        "the same database for the role that owns it: migrations, `cardlog grant` and `log import`; empty: as above",
        secret=True,
        form="postgres",
    )
    log_key_file: str = _setting(
        "", "file with the key that authenticates what is appended; `cardlog log key` makes one; empty: none"
    )
    read_database_url: str = _setting(
        "",
        "read replicas of that PostgreSQL, with spaces between: questions are answered there",
        secret=True,
        form="postgres list",
    )
    read_staleness_s: int = _setting(
        5, "a replica that may lack what was committed this many seconds ago leaves questions to the primary"
    )
    redis_url: str = _setting(
        "",
        "Redis to use; empty: an embedded server is started; redis+cluster://host:port,host:port for a cluster",
        secret=True,
        form="redis",
    )
    turns_stream: str = _setting("turns", "Redis stream apps push turns onto", form="name")
    turn_streams: int = _setting(
        1,
        "streams the write service spreads users over, 1 to 64; above 1 they are turns:{0}, turns:{1} …",
        least=1,
        most=64,
    )
    kafka_brokers: str = _setting(
        "",
        "Kafka that carries the log to the workers, host:port with commas; empty: they read it themselves",
        form="brokers",
    )
    kafka_topic: str = _setting(
        "cardlog.events", "topic of the log on Kafka; one for each Cardlog", form="topic"
    )
    kafka_fallback_s: int = _setting(
        5, "what Kafka has not brought a worker after about this long is read from the log"
    )
    consumer_group: str = _setting("recorders", "consumer group of the recorders", form="name")
    batch_turns: int = _setting(500, "turns a recorder takes at a time", least=1)
    linger_ms: int = _setting(
        40, "rounds of a worker that has work begin this far apart: fewer and larger ones cost less"
    )
    reclaim_after_ms: int = _setting(30_000, "a dead recorder's turns are taken over after this long")
    idle_in_transaction_timeout_ms: int = _setting(
        120_000, "a worker that leaves a transaction idle for this long loses its batch to another; 0: never"
    )
    batch_events: int = _setting(64, "events a processor takes from each partition at a time", least=1)
    supersede_fork: bool = _setting(
        True, "a new single value supersedes the old one instead of standing beside it"
    )
    arbitration_changes: int = _setting(
        3, "the how-manieth change of one fact within `arbitration_days` waits for a verdict"
    )
    arbitration_days: int = _setting(30, "days in which changes of one fact are counted together")
    arbitration_stale_days: int = _setting(
        30, "a fact that held this many days is not contradicted in passing: that waits for a verdict"
    )
    knowledge_extraction: bool = _setting(True, "knowledge cards are extracted")
    model: str = _setting(
        "claude-haiku-5-5",
        "model that reads turns, where there is an ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL",
    )
    thinking: bool = _setting(False, "the model may think before it answers: slower and dearer")
    session_batch_gap_s: int = _setting(
        180, "turns of a session said further apart than this are not read together"
    )
    session_batch_turns: int = _setting(12, "turns of a session the model reads together at most", least=1)
    session_batch_chars: int = _setting(
        6_000, "characters of turns the model reads together at most", least=1
    )
    session_batch_linger_ms: int = _setting(
        2_000, "how long the newest turns wait for more before the model reads them"
    )
    extract_concurrency: int = _setting(32, "calls of the model at once, in one extractor process", least=1)
    extract_timeout_s: int = _setting(60, "an answer of the model is waited for this long", least=1)
    extract_max_tokens: int = _setting(
        4_096, "tokens of an answer; twice as many when one was cut off", least=1
    )
    extract_retries: int = _setting(
        8, "how often turns are tried again that fail while others are read, before they are given up"
    )
    extract_grace_s: int = _setting(8, "an extractor told to stop waits this long for answers under way")
    breaker_failures: int = _setting(5, "failed calls in a row after which only one at a time is tried")
    rules_fallback: bool = _setting(
        False, "while the model cannot be reached, the rules read turns in its place"
    )
    budget_tokens_per_user_day: int = _setting(
        0, "tokens the model may cost a user in a day (UTC), then the rules stand in; 0: no limit"
    )
    knowledge_inject: bool = _setting(True, "knowledge cards are offered to assistants")
    embed_model: str = _setting(
        "sentence-transformers/all-MiniLM-L6-v2", "embedding model of the default mode"
    )
    embed_model_path: str = _setting(
        "", "folder with the model's ONNX files; empty: where `make model` puts it"
    )
    embed_threads: int = _setting(0, "threads of one embedder; 0: as many as there are cores")
    semantic_deadline_ms: int = _setting(150, "deadline of the semantic channel")
    tags_deadline_ms: int = _setting(150, "deadline of the tags channel")
    fuzzy_deadline_ms: int = _setting(150, "deadline of the fuzzy channel")
    time_deadline_ms: int = _setting(150, "deadline of the time channel")
    overlay_deadline_ms: int = _setting(300, "deadline for laying what was said a moment ago over an answer")
    graph_deadline_ms: int = _setting(200, "deadline of the graph channel")
    last_resort_ms: int = _setting(
        1000, "longest the channels that were late are waited for, where none answered in time"
    )
    quarantine_over_ms: int = _setting(
        150, "a channel whose last 10 latencies have a P95 above this is not waited for"
    )
    quarantine_s: int = _setting(600, "longest a channel that was too slow is left out")
    modes: str = _setting(
        "",
        "modes recall may ask for, with commas, each a name or name=embedding model (code=a/model, journal); "
        "empty: any that turns were pushed with",
        form="modes",
    )
    fault_semantic: str = _setting(
        "", "for tests: the semantic channel is down, error or slow:<ms>", form="fault"
    )
    fault_tags: str = _setting("", "for tests: the tags channel is down, error or slow:<ms>", form="fault")
    fault_fuzzy: str = _setting("", "for tests: the fuzzy channel is down, error or slow:<ms>", form="fault")
    fault_time: str = _setting("", "for tests: the time channel is down, error or slow:<ms>", form="fault")
    fault_graph: str = _setting("", "for tests: the graph channel is down, error or slow:<ms>", form="fault")
    wait_for_ms: int = _setting(5000, "longest a recall waits for the turns of a push token")
    max_waits: int = _setting(
        64, "reads of one process that wait for a token at once; others are told so", least=1
    )
    token_key: str = _setting(
        "", "key that tokens are signed with; empty: a random one that the database keeps", secret=True
    )
    allowed_hosts: str = _setting(
        "",
        "further names of the services, with commas, *.name for all below one, * for any; loopback, the machine's "
        "own name and the address a request came in by are always allowed",
    )
    allowed_origins: str = _setting(
        "", "web pages that may ask the services, with commas (https://app.example.com); * for any"
    )
    header_timeout_s: int = _setting(
        10, "a request's head is complete within this, or its connection ends", least=1
    )
    body_timeout_s: int = _setting(
        30, "a request's body is complete within this, or its connection ends", least=1
    )
    idle_timeout_s: int = _setting(20, "a connection without a request ends after this long", least=1)
    max_connections: int = _setting(
        1000, "connections of one service; above it those at rest make room", least=1
    )
    max_requests: int = _setting(
        256, "requests one service works on at once; others are answered 503", least=1
    )
    max_pushes: int = _setting(
        16, "pushes one write service has under way to Redis at once; others wait", least=1
    )
    max_body_kib: int = _setting(
        256, "largest body of a request but POST /v1/turns, which takes 16 MiB", least=1
    )
    pool_size: int = _setting(8, "database connections of one API process", least=1)
    read_url: str = _setting(
        "", "read service that the command asks; empty: the one that runs here", form="http"
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info", "debug, info, warning or error"
    )
    log_format: Literal["text", "json"] = _setting("text", "text for people, or json: one object a line")
    stuck_after_s: int = _setting(
        60, "a service is not ready once a stage it needs has had work and done none for this long"
    )
    anthropic_api_key: str = _setting(
        "", "key for the Messages API", variable="ANTHROPIC_API_KEY", secret=True
    )
    anthropic_base_url: str = _setting(
        "",
        "server that speaks the Messages API, if not Anthropic's",
        variable="ANTHROPIC_BASE_URL",
        form="http",
    )

    def __post_init__(self) -> None:
        for name in _secrets():
            object.__setattr__(self, name, Secret(getattr(self, name)))


@cache
def known_variables() -> frozenset[str]:
    """Every variable that means something to Cardlog."""
    return frozenset(_variables().values()) | OTHERS


def variable_of(name: str) -> str:
    """The environment variable of the setting ``name``."""
    return _variables()[name]


def listing() -> list[tuple[str, str, str]]:
    """(variable, default, meaning) of every setting, in order."""
    return [(variable_of(f.name), str(f.default), str(f.metadata["meaning"])) for f in fields(Settings)]


@cache
def _variables() -> dict[str, str]:
    return {f.name: str(f.metadata["variable"] or f"{PREFIX}{f.name.upper()}") for f in fields(Settings)}


@cache
def _secrets() -> tuple[str, ...]:
    return tuple(f.name for f in fields(Settings) if f.metadata["secret"])
