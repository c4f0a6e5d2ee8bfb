"""The targets of webhooks: which addresses are allowed, one bounded exchange with a target, and its signed message.

A target is hostile. Its name is resolved once, each of its addresses is checked, and the connection goes to a checked
address. A redirect is never followed. One deadline bounds the exchange, and only the head of an answer is read. A
message follows Standard Webhooks and never holds words of a user.
"""

import dataclasses
import hmac
import ipaddress
import re
import secrets
import socket
import ssl
import time
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from urllib.parse import SplitResult, urlsplit
from uuid import UUID

import h11
import orjson

from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Event
from events.types.tenancy import user_of

EXCHANGE_S = 10.0
"""The longest exchange with a target, in seconds."""
LONGEST_HEAD = 16_384
"""The most bytes of the head of an answer."""
_URL = re.compile(r"https?://[!-~]+")
_REMEDY = (
    "http and private addresses need CARDLOG_WEBHOOK_PRIVATE=on in the write service and the webhooks worker"
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class TargetError(Exception):
    """A message was not delivered. The text names the reason and holds nothing that the target sent."""


def checked_url(url: str, *, private: bool) -> SplitResult:
    """Returns the parts of the URL of a target.

    Raises :class:`TargetError` for a URL that no target may have: not https, with a user name or a fragment, or with a
    private address in the place of a name. ``private`` allows http and private addresses. Resolves no name.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        raise TargetError("is no URL") from None
    if not _URL.fullmatch(url) or not host or len(url) > 2000 or "\\" in url or parts.port == 0:
        raise TargetError("must be an https URL of at most 2,000 ASCII characters")
    if parts.username is not None or parts.password is not None or "#" in url:
        raise TargetError("must hold no user name, password or fragment")
    if parts.scheme != "https" and not private:
        raise TargetError(f"must begin with https://; {_REMEDY}")
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        return parts
    if not private and not is_public(str(literal)):
        raise TargetError(f"must be a public address; {_REMEDY}")
    return parts


def is_public(address: str) -> bool:
    """True when everybody on the internet reaches ``address``. An IPv4 address inside counts."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        held = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if ip in _NAT64:
            held = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if held is not None:
            return is_public(str(held))
        if ip.is_site_local:
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved)


def post(url: str, headers: list[tuple[str, str]], body: bytes, *, private: bool) -> None:
    """Sends ``body`` to ``url``. Returns when the target answers with a status from 200 to 299.

    Raises :class:`TargetError` for every other end, at most :data:`EXCHANGE_S` seconds after the name was resolved.
    """
    parts = checked_url(url, private=private)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    address = _resolved(host, port, private=private)
    until = time.monotonic() + EXCHANGE_S
    try:
        with socket.create_connection((address, port), _left(until)) as plain:
            if parts.scheme == "https":
                with _tls().wrap_socket(plain, server_hostname=host) as sealed:
                    status = _exchange(sealed, parts, headers, body, until)
            else:
                status = _exchange(plain, parts, headers, body, until)
    except TimeoutError:
        raise TargetError(f"no answer within {EXCHANGE_S:.0f} s") from None
    except ssl.SSLError as error:
        raise TargetError(f"TLS failed: {error.reason or 'certificate refused'}") from None
    except OSError as error:
        raise TargetError(f"the connection failed: {error.strerror or type(error).__name__}") from None
    except h11.ProtocolError:
        raise TargetError("the answer is no HTTP") from None
    if 300 <= status < 400:
        raise TargetError(f"the target redirects (status {status}); add its final address as a webhook")
    if not 200 <= status < 300:
        raise TargetError(f"the target answered with status {status}")


def _resolved(host: str, port: int, *, private: bool) -> str:
    try:
        found = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        raise TargetError("the name of the target cannot be resolved") from None
    if not found or not (private or all(map(is_public, found))):
        raise TargetError(f"the name of the target leads to a private address; {_REMEDY}")
    return found[0]


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _exchange(
    connection: socket.socket, parts: SplitResult, headers: list[tuple[str, str]], body: bytes, until: float
) -> int:
    """Returns the status of the answer. The body of the answer is not read."""
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    own = [("Host", parts.netloc), ("Content-Length", str(len(body))), ("Connection", "close")]
    sent = http.send(h11.Request(method="POST", target=target, headers=[*own, *headers]))
    connection.settimeout(_left(until))
    connection.sendall((sent or b"") + body)
    http.send(h11.Data(data=body))
    http.send(h11.EndOfMessage())
    while True:
        event = http.next_event()
        if event is h11.NEED_DATA:
            connection.settimeout(_left(until))
            http.receive_data(connection.recv(4096))
        elif isinstance(event, h11.Response):
            return event.status_code
        elif not isinstance(event, h11.InformationalResponse):
            raise TargetError("the target closed the connection without an answer")


_PREFIX = "whsec_"
_SECRET_BYTES = 32


def new_secret() -> str:
    """Returns a new secret: ``whsec_`` and 32 random bytes in base64."""
    return _PREFIX + b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def body_of(event: Event) -> bytes:
    """Returns the JSON of a message. The same event always gives the same bytes.

    ``stream`` is the kind of the stream without its name, because a name may hold words. ``ids`` are the ids in the
    event, by the name of their field, with the turns that the event rests on and the card that it makes.
    """
    data = {
        "user_id": user_of(event.user_id),
        "event_id": event.event_id,
        "stream": event.stream.partition("/")[0],
        "ids": _ids(event),
    }
    return orjson.dumps({"type": event.type, "timestamp": event.recorded_at.astimezone(UTC), "data": data})


def headers_of(event: Event, body: bytes, secret: str, now: datetime) -> list[tuple[str, str]]:
    """Returns the headers of a message that is sent ``now``: its id, its time in Unix seconds, its signature."""
    stamp = str(int(now.timestamp()))
    key = b64decode(secret.removeprefix(_PREFIX))
    signature = hmac.digest(key, f"{event.event_id}.{stamp}.".encode() + body, sha256)
    return [
        ("content-type", "application/json"),
        ("user-agent", "cardlog"),
        ("webhook-id", str(event.event_id)),
        ("webhook-timestamp", stamp),
        ("webhook-signature", f"v1,{b64encode(signature).decode()}"),
    ]


def _ids(event: Event) -> dict[str, object]:
    found: dict[str, object] = {}
    for each in dataclasses.fields(event.payload):
        value = getattr(event.payload, each.name)
        if isinstance(value, UUID) or (
            isinstance(value, tuple) and value and all(isinstance(one, UUID) for one in value)
        ):
            found[each.name] = value
    origin = getattr(event.payload, "origin", event.payload)
    found |= {name: value for name in ("turn_id", "turn_ids") if (value := getattr(origin, name, None))}
    if isinstance(event.payload, StateAsserted | EventNoted | KnowledgeLearned):
        found["card_id"] = event.event_id
    return found
