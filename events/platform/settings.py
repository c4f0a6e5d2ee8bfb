"""Every setting: the environment variables ``CARDLOG_*`` with their defaults and meanings.

The first source that has a setting counts: the environment, the file ``.env`` of the working directory, the file
``.env`` of the data folder, the default. pydantic-settings reads and checks the sources
(events/platform/settings_sources.py).
"""

from __future__ import annotations

import re
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import Any, Literal

PREFIX = "CARDLOG_"
DATA, PROCESS = "CARDLOG_DATA", "CARDLOG_PROCESS"
OTHERS = frozenset((DATA, PROCESS))
"""Variables that the command reads and that are not settings."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a setting may be. Numbers are ``least`` to ``most``. ``form`` is a key of ``_FORMS``
    (events/platform/settings_sources.py). ``variable`` is the environment variable, if it has a name of its own."""

    variable: str | None = None
    secret: bool = False
    least: int = 0
    most: int = 2**31 - 1
    form: str = ""


_NO_RULE = Rule()


def _setting(default: object, **rule: Any) -> Any:
    """Returns the field of a setting with a rule of its own."""
    return field(default=default, metadata={"rule": Rule(**rule)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of a process. The process reads them once, at its start. The text below a setting is its meaning."""

    database_url: str = _setting("", secret=True, form="postgres")
    """PostgreSQL to use; empty: an embedded server is started"""
    admin_database_url: str = _setting("", secret=True, form="postgres")
    """the same database for the role that owns it, for migrations, `cardlog grant` and `log import`; empty:
    CARDLOG_DATABASE_URL"""
    log_key_file: str = ""
    """file with the key that authenticates appended events; `cardlog log key` makes one; empty: no key"""
    tombstones_file: str = ""
    """file outside the database that lists all erasures; they are repeated after a restored backup; empty: none"""
    kek_file: str = ""
    """file with the key-encryption key that payloads are sealed under; `cardlog log kek` makes one; empty: payloads are
    not sealed"""
    kek: str = _setting("", secret=True)
    """the key-encryption key itself in the place of the file: 32 bytes in base64, older keys behind it"""
    read_database_url: str = _setting("", secret=True, form="postgres list")
    """read replicas of that PostgreSQL, separated by spaces; they answer questions"""
    read_staleness_s: int = 5
    """seconds a replica may be behind; the primary answers instead of a replica that is further behind"""
    redis_url: str = _setting("", secret=True, form="redis")
    """Redis to use; empty: an embedded server is started; redis+cluster://host:port,host:port for a cluster"""
    redis_memory_mib: int = _setting(1024, least=16)
    """most memory of the embedded Redis; when it is full, turns are refused until the recorder has made room"""
    turns_stream: str = _setting("turns", form="name")
    """Redis stream that apps push turns onto"""
    turn_streams: int = _setting(1, least=1, most=64)
    """Redis streams that the write service spreads users over, 1 to 64; above 1: turns:{0}, turns:{1} …"""
    kafka_brokers: str = _setting("", form="brokers")
    """Kafka that carries the log to the workers, host:port separated by commas; empty: they read the log"""
    kafka_topic: str = _setting("cardlog.events", form="topic")
    """topic of the log on Kafka; one for each Cardlog"""
    kafka_fallback_s: int = 5
    """seconds after which a worker reads events from the log that Kafka has not delivered"""
    kafka_security: Literal["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"] = "plaintext"
    """protocol to Kafka: plaintext, ssl, sasl_plaintext or sasl_ssl; ssl means TLS, sasl a login"""
    kafka_ca_file: str = ""
    """file with the authority of Kafka's certificates (PEM); empty: those that the machine trusts"""
    kafka_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    """login to Kafka: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"""
    kafka_user: str = ""
    """user of the login to Kafka"""
    kafka_password: str = _setting("", secret=True)
    """password of the login to Kafka"""
    consumer_group: str = _setting("recorders", form="name")
    """consumer group of the recorders"""
    batch_turns: int = _setting(500, least=1)
    """most turns in one batch of a recorder"""
    linger_ms: int = 70
    """least time between the starts of two batches of a worker; fewer and larger batches cost less"""
    reclaim_after_ms: int = 30_000
    """time after which another recorder takes over the turns of a dead one"""
    idle_in_transaction_timeout_ms: int = 120_000
    """a worker that leaves a transaction idle for this long loses its batch to another; 0: never"""
    batch_events: int = _setting(64, least=1)
    """most events of one partition in one batch of a processor"""
    supersede_fork: bool = True
    """a new single value supersedes the old one; false: both stay in force"""
    arbitration_changes: int = 3
    """number of changes of one fact within `arbitration_days` from which a change waits for a verdict"""
    arbitration_days: int = 30
    """days in which `arbitration_changes` counts the changes of one fact"""
    arbitration_stale_days: int = 30
    """a contradiction in passing of a fact that held this many days waits for a verdict"""
    schema_evolution: Literal["propose", "auto"] = "propose"
    """topics that recur in core documents are proposed as categories; auto: strong ones become categories"""
    knowledge_extraction: bool = True
    """the extractor makes knowledge cards"""
    model: str = "claude-haiku-5-5"
    """model that extracts turns, if ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL or CARDLOG_OPENAI_BASE_URL is set"""
    thinking: bool = False
    """the model may think before it answers: slower and dearer"""
    session_batch_gap_s: int = 180
    """most seconds between two consecutive turns of one session batch"""
    session_batch_turns: int = _setting(20, least=1)
    """most turns in one session batch"""
    session_batch_chars: int = _setting(10_000, least=1)
    """most characters in one session batch"""
    session_batch_linger_ms: int = 2_000
    """time that the newest turns wait for further turns of their session batch"""
    extract_concurrency: int = _setting(32, least=1)
    """most calls of the model at the same time, in one extractor process"""
    extract_timeout_s: int = _setting(60, least=1)
    """longest wait for an answer of the model"""
    extract_max_tokens: int = _setting(4_096, least=1)
    """most tokens of an answer; twice as many after an answer that was cut off"""
    extract_retries: int = 8
    """retries of turns that fail while other turns succeed; the extractor then gives them up"""
    extract_grace_s: int = 8
    """longest wait of a stopping extractor for running calls"""
    breaker_failures: int = 5
    """failures in a row after which the circuit breaker tries one call at a time"""
    rules_fallback: bool = False
    """the rules extract turns in the place of the model while the model is away"""
    budget_tokens_per_user_day: int = 0
    """tokens a user may cost in a day (UTC); the rules extract further turns; 0: no limit"""
    knowledge_inject: bool = True
    """assistants get knowledge cards"""
    curator: bool = True
    """`cardlog up` runs the curator, which relates cards and makes threads; it only adds"""
    curator_idle_s: int = _setting(60, most=86_400)
    """a user is curated this long after the last event; one who is never idle after ten times as long"""
    curator_users: int = _setting(50, least=1)
    """most users that the curator reads in one round"""
    curator_tokens_per_user_day: int = 0
    """tokens that the curator's model may cost a user in a day (UTC); 0: the curator asks no model"""
    webhook_private: bool = False
    """webhooks may have http and private addresses"""
    webhook_attempts: int = _setting(10, least=1, most=100)
    """tries of a message to a webhook; the message is then dead"""
    reference_proposals: bool = False
    """turns that ask for a change of a list become proposals; `cardlog proposals` shows them"""
    forget_proposals: bool = False
    """turns that ask to forget a fact become proposals to retract its card; each waits for an answer"""
    reference_apply_percent: int = _setting(90, most=101)
    """confidence from which a proposal is applied at once; 101: never"""
    reference_pin_uses: int = 10
    """uses within `reference_pin_days`, on three days at least, that pin a reference; 0: never"""
    reference_pin_days: int = _setting(14, least=1)
    """days in which `reference_pin_uses` counts"""
    reference_archive_days: int = 90
    """days without a use after which a reference has the tier archive; 0: never"""
    embed_model: str = "intfloat/multilingual-e5-small"
    """embedding model of the default mode"""
    embed_model_path: str = ""
    """folder with the ONNX files of the model; empty: the folder of `cardlog model fetch`"""
    embed_threads: int = 0
    """threads of one embedder; 0: one for each core"""
    embed_url: str = _setting("", form="http")
    """server that embeds, OpenAI-style, up to /v1 (http://127.0.0.1:8702/v1); `cardlog serve embed` is one; empty: the
    model runs in each process"""
    embed_key: str = _setting("", secret=True)
    """key for that server"""
    embed_timeout_s: int = _setting(30, least=1)
    """longest wait for 64 texts of that server"""
    rerank_url: str = _setting("", form="http")
    """server that reranks the best texts of a recall, up to the part before /rerank; empty: none. It sees the texts"""
    rerank_model: str = ""
    """model of that server, for the form of Jina and Cohere; empty: the form of Text Embeddings Inference"""
    rerank_key: str = _setting("", secret=True)
    """key for that server"""
    rerank_top: int = _setting(30, least=2)
    """texts of a recall that the server gets"""
    rerank_deadline_ms: int = _setting(500, least=1)
    """longest wait for that server"""
    semantic_deadline_ms: int = 150
    """deadline of the semantic channel"""
    tags_deadline_ms: int = 150
    """deadline of the tags channel"""
    fuzzy_deadline_ms: int = 150
    """deadline of the fuzzy channel"""
    time_deadline_ms: int = 150
    """deadline of the time channel"""
    overlay_deadline_ms: int = 300
    """deadline of the overlay"""
    graph_deadline_ms: int = 200
    """deadline of the graph channel"""
    ranking_file: str = ""
    """file with the coefficients of the ranking; empty: the shipped one"""
    last_resort_ms: int = 1000
    """longest further wait for the late channels when no channel answered in time"""
    quarantine_over_ms: int = 150
    """a channel goes into quarantine when the P95 of its last 10 latencies is above this, unless all are slow"""
    quarantine_s: int = 600
    """longest quarantine of a slow channel"""
    modes: str = _setting("", form="modes")
    """modes of recall, separated by commas, each a name or name=embedding model (code=a/model, journal); empty: every
    mode of the pushed turns"""
    fault_semantic: str = _setting("", form="fault")
    """for tests: the semantic channel is down, error or slow:<ms>"""
    fault_tags: str = _setting("", form="fault")
    """for tests: the tags channel is down, error or slow:<ms>"""
    fault_fuzzy: str = _setting("", form="fault")
    """for tests: the fuzzy channel is down, error or slow:<ms>"""
    fault_time: str = _setting("", form="fault")
    """for tests: the time channel is down, error or slow:<ms>"""
    fault_graph: str = _setting("", form="fault")
    """for tests: the graph channel is down, error or slow:<ms>"""
    wait_for_ms: int = 5000
    """longest wait of a recall for the turns of a push token"""
    turn_events_s: int = _setting(60, least=1, most=600)
    """longest stream of what becomes of a turn, unless the request says otherwise"""
    hook_deadline_ms: int = _setting(1000, least=1)
    """longest wait of a prompt for the context that a hook of an assistant asks for"""
    hook_tokens: int = _setting(2000, least=600, most=100_000)
    """most tokens of that context"""
    proxy_openai_url: str = _setting("https://api.openai.com/v1", form="http")
    """server that the proxy passes chat completions and Responses on to, up to /v1"""
    proxy_anthropic_url: str = _setting("https://api.anthropic.com", form="http")
    """server that the proxy passes Messages on to, without /v1"""
    proxy_deadline_ms: int = _setting(500, least=1)
    """longest wait of a request to the proxy for its context"""
    proxy_tokens: int = _setting(2000, least=600, most=100_000)
    """most tokens of that context"""
    proxy_push_ms: int = 250
    """longest wait of an answer of the proxy that is no stream for the push of its turns"""
    proxy_queue: int = _setting(1000, least=1)
    """most pushes of turns that wait in the proxy while the memory is away"""
    proxy_retry_s: int = 3600
    """longest time that such a push waits; the proxy then gives it up, and its log says so"""
    mcp_forget: bool = False
    """the tool forget, which erases turns, is among the tools of MCP"""
    max_waits: int = _setting(64, least=1)
    """most reads of one process that wait for a token at the same time; further ones do not wait"""
    token_key: str = _setting("", secret=True)
    """key that signs tokens; empty: a random key that the database keeps"""
    allowed_hosts: str = ""
    """further names of the services, separated by commas; *.name: all names below it; *: any name; loopback, the
    machine's own name and the address of the request are always allowed"""
    allowed_origins: str = ""
    """web origins that may ask the services, separated by commas (https://app.example.com); *: any origin"""
    auth: Literal["on", "off"] = "on"
    """on: every request needs an API key or a signed token; off only works on loopback"""
    api_key: str = _setting("", secret=True)
    """API key that the command and the client send"""
    key_file: str = ""
    """file whose last word is that key; empty: the first key of the Cardlog on this machine"""
    metrics_from: str = _setting("127.0.0.0/8, ::1/128", form="networks")
    """networks that may read /metrics without a key, separated by commas; a proxy on this machine must set
    X-Forwarded-For"""
    jwt_jwks: str = _setting("", form="jwks")
    """public keys of signed tokens (JSON Web Key Set): a file or an https URL; empty: only API keys count"""
    jwt_audience: str = ""
    """audience (aud) that a signed token must name"""
    jwt_issuer: str = ""
    """issuer (iss) that a signed token must name"""
    jwt_tenant_claim: str = ""
    """claim with the tenant; empty: every signed token belongs to the default tenant"""
    jwt_user_claim: str = "sub"
    """claim with the user, or a list of users, that the token is limited to; a dash: not limited"""
    jwt_scope_claim: str = "scope"
    """claim with the scopes push, read, write and admin"""
    key_rate: int = 0
    """requests a second of one API key, by cost; 0: no limit"""
    user_rate: int = 0
    """requests a second about one user, by cost; 0: no limit"""
    rate_burst_s: int = _setting(10, least=1)
    """seconds of its rate that a key or a user may use at once"""
    key_concurrency: int = 0
    """requests of one API key at the same time, in one process; 0: its fair share only"""
    user_concurrency: int = 0
    """requests about one user at the same time, in one process; 0: no limit"""
    max_page: int = _setting(500, least=1, most=500)
    """most cards of one answer"""
    header_timeout_s: int = _setting(10, least=1)
    """longest time of a request's head; the service then closes the connection"""
    body_timeout_s: int = _setting(30, least=1)
    """longest time of a request's body, 5 s and 1 s for each 2 KiB of it; the service then closes the connection"""
    idle_timeout_s: int = _setting(20, least=1)
    """longest time of a connection without a request; the service then closes it"""
    max_connections: int = _setting(1000, least=1)
    """most connections of one service; above it the service closes idle ones"""
    max_requests: int = _setting(256, least=1)
    """most requests of one service at the same time, of one key a third; others wait 3 s and get 503"""
    max_pushes: int = _setting(16, least=1)
    """most pushes of one write service to Redis at the same time; others wait"""
    max_body_kib: int = _setting(256, least=1)
    """largest body of a request; the limit of POST /v1/turns is 16 MiB"""
    require_tls: bool = False
    """refuse to start when the URL of a server on another machine does not ask for TLS"""
    tls_cert_file: str = ""
    """certificate of the services `cardlog serve` (PEM, with its chain); empty: HTTP without TLS"""
    tls_key_file: str = ""
    """key of that certificate (PEM)"""
    audit: Literal["off", "on", "strict"] = "on"
    """the audit log of requests: off, on, or strict (503 instead of a request that cannot be recorded)"""
    pool_size: int = _setting(8, least=1)
    """database connections of one API process"""
    read_url: str = _setting("", form="http")
    """read service that the command and the write service ask; empty: the command asks the one on this machine"""
    write_url: str = _setting("", form="http")
    """write service that the command and the read service call; empty: the command calls the one on this machine"""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """debug, info, warning or error"""
    log_format: Literal["text", "json"] = "text"
    """text for people, or json with one object for each line"""
    stuck_after_s: int = 60
    """a service is not ready when a stage that it needs is stalled for longer than this"""
    anthropic_api_key: str = _setting("", variable="ANTHROPIC_API_KEY", secret=True)
    """key for the Messages API"""
    anthropic_base_url: str = _setting("", variable="ANTHROPIC_BASE_URL", form="http")
    """server with the Messages API; empty: Anthropic's"""
    openai_base_url: str = _setting("", form="http")
    """server with chat completions, OpenAI-style, up to /v1 (http://127.0.0.1:11434/v1), which then extracts turns in
    the place of the Messages API; CARDLOG_MODEL names its model"""
    openai_api_key: str = _setting("", secret=True)
    """key for that server; empty: none is sent"""
    openai_output: Literal["tool", "schema"] = "tool"
    """answer of that server: the call of a tool, or schema: a JSON object of a schema, for models without tools"""

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


def rule_of(setting: Field[object]) -> Rule:
    rule: Rule = setting.metadata.get("rule", _NO_RULE)
    return rule


def listing() -> list[tuple[str, str, str]]:
    """Returns (variable, default, meaning) of every setting, in order."""
    import ast  # noqa: PLC0415 - only this list needs both
    from inspect import getsource  # noqa: PLC0415

    body = next(node for node in ast.parse(getsource(Settings)).body if isinstance(node, ast.ClassDef)).body
    texts = [
        " ".join(str(node.value.value).split())
        for node in body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    return [
        (variable_of(f.name), str(f.default), meaning)
        for f, meaning in zip(fields(Settings), texts[1:], strict=True)
    ]


@cache
def _variables() -> dict[str, str]:
    return {f.name: rule_of(f).variable or f"{PREFIX}{f.name.upper()}" for f in fields(Settings)}


@cache
def _secrets() -> tuple[str, ...]:
    return tuple(f.name for f in fields(Settings) if rule_of(f).secret)
