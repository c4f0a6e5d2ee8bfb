"""Every setting, in one place: environment variables ``CARDLOG_*`` with their defaults and meaning."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_type_hints


class SettingsError(ValueError):
    """A setting cannot be used; the message names the variable, its value and what is allowed."""


def _setting(default: Any, meaning: str, *, variable: str | None = None, secret: bool = False) -> Any:
    return field(default=default, metadata={"meaning": meaning, "variable": variable, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a process was told. Read once at start; never from the environment afterwards."""

    database_url: str = _setting("", "PostgreSQL to use; empty: an embedded server is started", secret=True)
    admin_database_url: str = _setting(
        "",
        "the same database for the role that owns it: migrations, `cardlog grant` and `log import`; empty: as above",
        secret=True,
    )
    log_key_file: str = _setting(
        "", "file with the key that authenticates what is appended; `cardlog log key` makes one; empty: none"
    )
    read_database_url: str = _setting(
        "", "read replicas of that PostgreSQL, with spaces between: questions are answered there", secret=True
    )
    read_staleness_s: int = _setting(
        5, "a replica that may lack what was committed this many seconds ago leaves questions to the primary"
    )
    redis_url: str = _setting(
        "",
        "Redis to use; empty: an embedded server is started; redis+cluster://host:port,host:port for a cluster",
        secret=True,
    )
    turns_stream: str = _setting("turns", "Redis stream apps push turns onto")
    turn_streams: int = _setting(
        1, "streams the write service spreads users over, 1 to 64; above 1 they are turns:{0}, turns:{1} …"
    )
    kafka_brokers: str = _setting(
        "", "Kafka that carries the log to the workers, host:port with commas; empty: they read it themselves"
    )
    kafka_topic: str = _setting("cardlog.events", "topic of the log on Kafka; one for each Cardlog")
    kafka_look_s: int = _setting(
        5, "what Kafka has not brought a worker after about this long is read from the log"
    )
    consumer_group: str = _setting("recorders", "consumer group of the recorders")
    batch_turns: int = _setting(500, "turns a recorder takes at a time")
    gather_ms: int = _setting(
        40, "rounds of a worker that has work begin this far apart: fewer and larger ones cost less"
    )
    reclaim_after_ms: int = _setting(30_000, "a dead recorder's turns are taken over after this long")
    lease_ms: int = _setting(
        120_000, "a worker that leaves a transaction idle for this long loses its batch to another; 0: never"
    )
    batch_events: int = _setting(64, "events a processor takes from each partition at a time")
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
    burst_gap_s: int = _setting(180, "turns of a session said further apart than this are not read together")
    burst_turns: int = _setting(12, "turns of a session the model reads together at most")
    burst_chars: int = _setting(6_000, "characters of turns the model reads together at most")
    burst_wait_ms: int = _setting(
        2_000, "how long the newest turns wait for more before the model reads them"
    )
    extract_concurrency: int = _setting(32, "calls of the model at once, in one extractor process")
    extract_timeout_s: int = _setting(60, "an answer of the model is waited for this long")
    extract_max_tokens: int = _setting(4_096, "tokens of an answer; twice as many when one was cut off")
    extract_retries: int = _setting(
        8, "how often turns are tried again that fail while others are read, before they are given up"
    )
    extract_grace_s: int = _setting(8, "an extractor told to stop waits this long for answers under way")
    breaker_failures: int = _setting(5, "failed calls in a row after which only one at a time is tried")
    stand_in: bool = _setting(False, "while the model cannot be reached, the rules read turns in its place")
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
    )
    fault_semantic: str = _setting("", "for tests: the semantic channel is down, error or slow:<ms>")
    fault_tags: str = _setting("", "for tests: the tags channel is down, error or slow:<ms>")
    fault_fuzzy: str = _setting("", "for tests: the fuzzy channel is down, error or slow:<ms>")
    fault_time: str = _setting("", "for tests: the time channel is down, error or slow:<ms>")
    fault_graph: str = _setting("", "for tests: the graph channel is down, error or slow:<ms>")
    wait_for_ms: int = _setting(5000, "longest a recall waits for the turns of a push token")
    max_waits: int = _setting(64, "reads of one process that wait for a token at once; others are told so")
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
    header_timeout_s: int = _setting(10, "a request's head is complete within this, or its connection ends")
    body_timeout_s: int = _setting(30, "a request's body is complete within this, or its connection ends")
    idle_timeout_s: int = _setting(20, "a connection without a request ends after this long")
    max_connections: int = _setting(1000, "connections of one service; above it those at rest make room")
    max_requests: int = _setting(256, "requests one service works on at once; others are answered 503")
    max_pushes: int = _setting(16, "pushes one write service has under way to Redis at once; others wait")
    max_body_kib: int = _setting(256, "largest body of a request but POST /v1/turns, which takes 16 MiB")
    pool_size: int = _setting(8, "database connections of one API process")
    log_level: str = _setting("info", "debug, info, warning or error")
    log_format: str = _setting("text", "text for people, or json: one object a line")
    stuck_after_s: int = _setting(
        60, "a service is not ready once a stage it needs has had work and done none for this long"
    )
    anthropic_api_key: str = _setting(
        "", "key for the Messages API", variable="ANTHROPIC_API_KEY", secret=True
    )
    anthropic_base_url: str = _setting(
        "", "server that speaks the Messages API, if not Anthropic's", variable="ANTHROPIC_BASE_URL"
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The settings in ``environment`` (the process's own by default).

        Raises :class:`SettingsError` naming the first variable that cannot be read.
        """
        source = os.environ if environment is None else environment
        hints = get_type_hints(cls)
        values: dict[str, Any] = {}
        for item in fields(cls):
            variable = variable_of(item.name)
            text = source.get(variable, "").strip()
            if text:
                values[item.name] = _read(variable, text, hints[item.name])
        if values.get("log_level", "info") not in {"debug", "info", "warning", "error"}:
            raise SettingsError(
                f"CARDLOG_LOG_LEVEL is {values['log_level']!r}: use debug, info, warning or error"
            )
        if values.get("log_format", "text") not in {"text", "json"}:
            raise SettingsError(f"CARDLOG_LOG_FORMAT is {values['log_format']!r}: use text or json")
        if not 1 <= values.get("turn_streams", 1) <= 64:
            raise SettingsError(f"CARDLOG_TURN_STREAMS is {values['turn_streams']}: use 1 to 64")
        return cls(**values)


def variable_of(name: str) -> str:
    """The environment variable of the setting ``name``."""
    for item in fields(Settings):
        if item.name == name:
            return str(item.metadata["variable"] or f"CARDLOG_{name.upper()}")
    raise KeyError(name)


def listing() -> list[tuple[str, str, str]]:
    """(variable, default, meaning) of every setting, in order."""
    return [(variable_of(f.name), str(f.default), str(f.metadata["meaning"])) for f in fields(Settings)]


def _read(variable: str, text: str, kind: type) -> Any:
    if kind is bool:
        lowered = text.lower()
        if lowered in {"1", "true", "yes", "on"}:
            return True
        if lowered in {"0", "false", "no", "off"}:
            return False
        raise SettingsError(f"{variable} is {text!r}: use true or false")
    if kind is int:
        try:
            number = int(text)
        except ValueError:
            raise SettingsError(f"{variable} is {text!r}: use a whole number") from None
        if number < 0:
            raise SettingsError(f"{variable} is {text!r}: use a number of 0 or more")
        return number
    return text
