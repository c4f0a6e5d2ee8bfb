"""Every setting: the environment variables ``CARDLOG_*`` with their defaults and meanings.

The first source that has a setting counts: the environment, the file ``.env`` of the working directory, the file
``.env`` of the data folder, the default. pydantic-settings reads and checks the sources
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
"""Variables that the command reads and that are not settings."""

_MOST = 2**31 - 1
_LOGIN_IN_URL = re.compile(r"(?<=://)\S{1,512}@")
_PASSWORD_IN_WORDS = re.compile(r"(password\s*=\s*)('(?:\\.|[^'\\])*'|[^\s&]+)", re.IGNORECASE)


class SettingsError(ValueError):
    """A setting has an invalid value. The message names the variable, its value and the allowed values."""


def redacted(text: str) -> str:
    """Returns ``text`` with ``***`` in the place of the logins of its URLs and of the value in ``password=...``."""
    if "://" in text and "@" in text:
        text = _LOGIN_IN_URL.sub("***@", text)
    return _PASSWORD_IN_WORDS.sub(r"\1***", text) if "assword" in text.lower() else text


class Secret(str):
    """A text that is ``***`` when it is printed or formatted. Nobody therefore reads it by accident.

    :func:`revealed` returns the text itself.
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
    """Returns the text of a secret. Returns any other text unchanged."""
    return str.__str__(text)


def _setting(
    default: object,
    meaning: str,
    *,
    variable: str | None = None,
    secret: bool = False,
    least: int = 0,
    most: int = _MOST,
    form: str = "",
) -> Any:
    """Returns the field of a setting. Numbers are ``least`` to ``most``; ``form`` is a key of ``_FORMS``
    (events/platform/settings_sources.py)."""
    metadata = {
        "meaning": meaning,
        "variable": variable,
        "secret": secret,
        "least": least,
        "most": most,
        "form": form,
    }
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a process. The process reads them once, at its start."""

    database_url: str = _setting(
        "", "PostgreSQL to use; empty: an embedded server is started", secret=True, form="postgres"
    )
    admin_database_url: str = _setting(
        "",
        "the same database for the role that owns it, for migrations, `cardlog grant` and `log import`; "
        "empty: CARDLOG_DATABASE_URL",
        secret=True,
        form="postgres",
    )
    log_key_file: str = _setting(
        "", "file with the key that authenticates appended events; `cardlog log key` makes one; empty: no key"
    )
    tombstones_file: str = _setting(
        "",
        "file outside the database that lists all erasures; they are repeated after a restored backup; empty: none",
    )
    kek_file: str = _setting(
        "",
        "file with the key-encryption key that payloads are sealed under; `cardlog log kek` makes one; empty: payloads "
        "are not sealed",
    )
    kek: str = _setting(
        "",
        "the key-encryption key itself in the place of the file: 32 bytes in base64, older keys behind it",
        secret=True,
    )
    read_database_url: str = _setting(
        "",
        "read replicas of that PostgreSQL, separated by spaces; they answer questions",
        secret=True,
        form="postgres list",
    )
    read_staleness_s: int = _setting(
        5, "seconds a replica may be behind; the primary answers instead of a replica that is further behind"
    )
    redis_url: str = _setting(
        "",
        "Redis to use; empty: an embedded server is started; redis+cluster://host:port,host:port for a cluster",
        secret=True,
        form="redis",
    )
    redis_memory_mib: int = _setting(
        1024,
        "most memory of the embedded Redis; when it is full, turns are refused until the recorder has made room",
        least=16,
    )
    turns_stream: str = _setting("turns", "Redis stream that apps push turns onto", form="name")
    turn_streams: int = _setting(
        1,
        "Redis streams that the write service spreads users over, 1 to 64; above 1: turns:{0}, turns:{1} …",
        least=1,
        most=64,
    )
    kafka_brokers: str = _setting(
        "",
        "Kafka that carries the log to the workers, host:port separated by commas; empty: they read the log",
        form="brokers",
    )
    kafka_topic: str = _setting(
        "cardlog.events", "topic of the log on Kafka; one for each Cardlog", form="topic"
    )
    kafka_fallback_s: int = _setting(
        5, "seconds after which a worker reads events from the log that Kafka has not delivered"
    )
    kafka_security: Literal["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"] = _setting(
        "plaintext",
        "protocol to Kafka: plaintext, ssl, sasl_plaintext or sasl_ssl; ssl means TLS, sasl a login",
    )
    kafka_ca_file: str = _setting(
        "", "file with the authority of Kafka's certificates (PEM); empty: those that the machine trusts"
    )
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = _setting(
        "SCRAM-SHA-512", "login to Kafka: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"
    )
    kafka_user: str = _setting("", "user of the login to Kafka")
    kafka_password: str = _setting("", "password of the login to Kafka", secret=True)
    consumer_group: str = _setting("recorders", "consumer group of the recorders", form="name")
    batch_turns: int = _setting(500, "most turns in one batch of a recorder", least=1)
    linger_ms: int = _setting(
        40, "least time between the starts of two batches of a worker; fewer and larger batches cost less"
    )
    reclaim_after_ms: int = _setting(
        30_000, "time after which another recorder takes over the turns of a dead one"
    )
    idle_in_transaction_timeout_ms: int = _setting(
        120_000, "a worker that leaves a transaction idle for this long loses its batch to another; 0: never"
    )
    batch_events: int = _setting(64, "most events of one partition in one batch of a processor", least=1)
    supersede_fork: bool = _setting(
        True, "a new single value supersedes the old one; false: both stay in force"
    )
    arbitration_changes: int = _setting(
        3, "number of changes of one fact within `arbitration_days` from which a change waits for a verdict"
    )
    arbitration_days: int = _setting(30, "days in which `arbitration_changes` counts the changes of one fact")
    arbitration_stale_days: int = _setting(
        30, "a contradiction in passing of a fact that held this many days waits for a verdict"
    )
    schema_evolution: Literal["propose", "auto"] = _setting(
        "propose",
        "topics that recur in core documents are proposed as categories; auto: strong ones become categories",
    )
    knowledge_extraction: bool = _setting(True, "the extractor makes knowledge cards")
    model: str = _setting(
        "claude-haiku-5-5",
        "model that extracts turns, if ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL or CARDLOG_OPENAI_BASE_URL is set",
    )
    thinking: bool = _setting(False, "the model may think before it answers: slower and dearer")
    session_batch_gap_s: int = _setting(
        180, "most seconds between two consecutive turns of one session batch"
    )
    session_batch_turns: int = _setting(12, "most turns in one session batch", least=1)
    session_batch_chars: int = _setting(6_000, "most characters in one session batch", least=1)
    session_batch_linger_ms: int = _setting(
        2_000, "time that the newest turns wait for further turns of their session batch"
    )
    extract_concurrency: int = _setting(
        32, "most calls of the model at the same time, in one extractor process", least=1
    )
    extract_timeout_s: int = _setting(60, "longest wait for an answer of the model", least=1)
    extract_max_tokens: int = _setting(
        4_096, "most tokens of an answer; twice as many after an answer that was cut off", least=1
    )
    extract_retries: int = _setting(
        8, "retries of turns that fail while other turns succeed; the extractor then gives them up"
    )
    extract_grace_s: int = _setting(8, "longest wait of a stopping extractor for running calls")
    breaker_failures: int = _setting(
        5, "failures in a row after which the circuit breaker tries one call at a time"
    )
    rules_fallback: bool = _setting(
        False, "the rules extract turns in the place of the model while the model is away"
    )
    budget_tokens_per_user_day: int = _setting(
        0, "tokens a user may cost in a day (UTC); the rules extract further turns; 0: no limit"
    )
    knowledge_inject: bool = _setting(True, "assistants get knowledge cards")
    reference_proposals: bool = _setting(
        False, "turns that ask for a change of a list become proposals; `cardlog proposals` shows them"
    )
    forget_proposals: bool = _setting(
        False,
        "turns that ask to forget a fact become proposals to retract its card; each waits for an answer",
    )
    reference_apply_percent: int = _setting(
        90, "confidence from which a proposal is applied at once; 101: never", most=101
    )
    reference_pin_uses: int = _setting(
        10, "uses within `reference_pin_days`, on three days at least, that pin a reference; 0: never"
    )
    reference_pin_days: int = _setting(14, "days in which `reference_pin_uses` counts", least=1)
    reference_archive_days: int = _setting(
        90, "days without a use after which a reference has the tier archive; 0: never"
    )
    embed_model: str = _setting("intfloat/multilingual-e5-small", "embedding model of the default mode")
    embed_model_path: str = _setting(
        "", "folder with the ONNX files of the model; empty: the folder of `make model`"
    )
    embed_threads: int = _setting(0, "threads of one embedder; 0: one for each core")
    embed_url: str = _setting(
        "",
        "server that embeds, OpenAI-style, up to /v1 (http://127.0.0.1:8702/v1); `cardlog serve embed` is one; empty: "
        "the model runs in each process",
        form="http",
    )
    embed_key: str = _setting("", "key for that server", secret=True)
    embed_timeout_s: int = _setting(30, "longest wait for 64 texts of that server", least=1)
    semantic_deadline_ms: int = _setting(150, "deadline of the semantic channel")
    tags_deadline_ms: int = _setting(150, "deadline of the tags channel")
    fuzzy_deadline_ms: int = _setting(150, "deadline of the fuzzy channel")
    time_deadline_ms: int = _setting(150, "deadline of the time channel")
    overlay_deadline_ms: int = _setting(300, "deadline of the overlay")
    graph_deadline_ms: int = _setting(200, "deadline of the graph channel")
    ranking_file: str = _setting("", "file with the coefficients of the ranking; empty: the shipped one")
    last_resort_ms: int = _setting(
        1000, "longest further wait for the late channels when no channel answered in time"
    )
    quarantine_over_ms: int = _setting(
        150, "a channel goes into quarantine when the P95 of its last 10 latencies is above this"
    )
    quarantine_s: int = _setting(600, "longest quarantine of a slow channel")
    modes: str = _setting(
        "",
        "modes of recall, separated by commas, each a name or name=embedding model (code=a/model, journal); "
        "empty: every mode of the pushed turns",
        form="modes",
    )
    fault_semantic: str = _setting(
        "", "for tests: the semantic channel is down, error or slow:<ms>", form="fault"
    )
    fault_tags: str = _setting("", "for tests: the tags channel is down, error or slow:<ms>", form="fault")
    fault_fuzzy: str = _setting("", "for tests: the fuzzy channel is down, error or slow:<ms>", form="fault")
    fault_time: str = _setting("", "for tests: the time channel is down, error or slow:<ms>", form="fault")
    fault_graph: str = _setting("", "for tests: the graph channel is down, error or slow:<ms>", form="fault")
    wait_for_ms: int = _setting(5000, "longest wait of a recall for the turns of a push token")
    hook_deadline_ms: int = _setting(
        1000, "longest wait of a prompt for the context that a hook of an assistant asks for", least=1
    )
    hook_tokens: int = _setting(2000, "most tokens of that context", least=600, most=100_000)
    mcp_forget: bool = _setting(False, "the tool forget, which erases turns, is among the tools of MCP")
    max_waits: int = _setting(
        64,
        "most reads of one process that wait for a token at the same time; further ones do not wait",
        least=1,
    )
    token_key: str = _setting(
        "", "key that signs tokens; empty: a random key that the database keeps", secret=True
    )
    allowed_hosts: str = _setting(
        "",
        "further names of the services, separated by commas; *.name: all names below it; *: any name; loopback, the "
        "machine's own name and the address of the request are always allowed",
    )
    allowed_origins: str = _setting(
        "",
        "web origins that may ask the services, separated by commas (https://app.example.com); *: any origin",
    )
    auth: Literal["on", "off"] = _setting(
        "on", "on: every request needs an API key or a signed token; off only works on loopback"
    )
    api_key: str = _setting("", "API key that the command and the client send", secret=True)
    key_file: str = _setting(
        "", "file whose last word is that key; empty: the first key of the Cardlog on this machine"
    )
    metrics_from: str = _setting(
        "127.0.0.0/8, ::1/128",
        "networks that may read /metrics without a key, separated by commas; a proxy on this machine must set "
        "X-Forwarded-For",
        form="networks",
    )
    jwt_jwks: str = _setting(
        "",
        "public keys of signed tokens (JSON Web Key Set): a file or an https URL; empty: only API keys count",
        form="jwks",
    )
    jwt_audience: str = _setting("", "audience (aud) that a signed token must name")
    jwt_issuer: str = _setting("", "issuer (iss) that a signed token must name")
    jwt_tenant_claim: str = _setting(
        "", "claim with the tenant; empty: every signed token belongs to the default tenant"
    )
    jwt_user_claim: str = _setting(
        "sub", "claim with the user, or a list of users, that the token is limited to; a dash: not limited"
    )
    jwt_scope_claim: str = _setting("scope", "claim with the scopes push, read, write and admin")
    key_rate: int = _setting(0, "requests a second of one API key, by cost; 0: no limit")
    user_rate: int = _setting(0, "requests a second about one user, by cost; 0: no limit")
    rate_burst_s: int = _setting(10, "seconds of its rate that a key or a user may use at once", least=1)
    key_concurrency: int = _setting(
        0, "requests of one API key at the same time, in one process; 0: its fair share only"
    )
    user_concurrency: int = _setting(
        0, "requests about one user at the same time, in one process; 0: no limit"
    )
    max_page: int = _setting(500, "most cards of one answer", least=1, most=500)
    header_timeout_s: int = _setting(
        10, "longest time of a request's head; the service then closes the connection", least=1
    )
    body_timeout_s: int = _setting(
        30,
        "longest time of a request's body, 5 s and 1 s for each 2 KiB of it; the service then closes the connection",
        least=1,
    )
    idle_timeout_s: int = _setting(
        20, "longest time of a connection without a request; the service then closes it", least=1
    )
    max_connections: int = _setting(
        1000, "most connections of one service; above it the service closes idle ones", least=1
    )
    max_requests: int = _setting(
        256,
        "most requests of one service at the same time, of one key a third; others wait 3 s and get 503",
        least=1,
    )
    max_pushes: int = _setting(
        16, "most pushes of one write service to Redis at the same time; others wait", least=1
    )
    max_body_kib: int = _setting(
        256, "largest body of a request; the limit of POST /v1/turns is 16 MiB", least=1
    )
    require_tls: bool = _setting(
        False, "refuse to start when the URL of a server on another machine does not ask for TLS"
    )
    tls_cert_file: str = _setting(
        "", "certificate of the services `cardlog serve` (PEM, with its chain); empty: HTTP without TLS"
    )
    tls_key_file: str = _setting("", "key of that certificate (PEM)")
    audit: Literal["off", "on", "strict"] = _setting(
        "on",
        "the audit log of requests: off, on, or strict (503 instead of a request that cannot be recorded)",
    )
    pool_size: int = _setting(8, "database connections of one API process", least=1)
    read_url: str = _setting(
        "",
        "read service that the command and the write service ask; empty: the command asks the one on this machine",
        form="http",
    )
    write_url: str = _setting(
        "",
        "write service that the command and the read service call; empty: the command calls the one on this machine",
        form="http",
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting(
        "info", "debug, info, warning or error"
    )
    log_format: Literal["text", "json"] = _setting(
        "text", "text for people, or json with one object for each line"
    )
    stuck_after_s: int = _setting(
        60, "a service is not ready when a stage that it needs is stalled for longer than this"
    )
    anthropic_api_key: str = _setting(
        "", "key for the Messages API", variable="ANTHROPIC_API_KEY", secret=True
    )
    anthropic_base_url: str = _setting(
        "",
        "server with the Messages API; empty: Anthropic's",
        variable="ANTHROPIC_BASE_URL",
        form="http",
    )
    openai_base_url: str = _setting(
        "",
        "server with chat completions, OpenAI-style, up to /v1 (http://127.0.0.1:11434/v1), which then extracts turns "
        "in the place of the Messages API; CARDLOG_MODEL names its model",
        form="http",
    )
    openai_api_key: str = _setting("", "key for that server; empty: none is sent", secret=True)
    openai_output: Literal["tool", "schema"] = _setting(
        "tool",
        "answer of that server: the call of a tool, or schema: a JSON object of a schema, for models without tools",
    )

    def __post_init__(self) -> None:
        for name in _secrets():
            object.__setattr__(self, name, Secret(getattr(self, name)))


@cache
def known_variables() -> frozenset[str]:
    """Returns every variable that Cardlog reads."""
    return frozenset(_variables().values()) | OTHERS


def variable_of(name: str) -> str:
    """Returns the environment variable of the setting ``name``."""
    return _variables()[name]


def listing() -> list[tuple[str, str, str]]:
    """Returns (variable, default, meaning) of every setting, in order."""
    return [(variable_of(f.name), str(f.default), str(f.metadata["meaning"])) for f in fields(Settings)]


@cache
def _variables() -> dict[str, str]:
    return {f.name: str(f.metadata["variable"] or f"{PREFIX}{f.name.upper()}") for f in fields(Settings)}


@cache
def _secrets() -> tuple[str, ...]:
    return tuple(f.name for f in fields(Settings) if f.metadata["secret"])
