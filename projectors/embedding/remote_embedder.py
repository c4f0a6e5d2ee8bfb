"""An embedder on another machine or in another process, behind an OpenAI-style route ``/v1/embeddings``.

The server is trusted with the words of the cards, and with nothing else: every answer is bounded, timed and checked.
"""

import asyncio
import base64
import os
import re
import threading
import time
from collections.abc import Sequence
from functools import cache
from math import inf
from urllib.parse import urlsplit

import httpx2
import numpy as np
import orjson

from projectors.embedding.embedder import EmbedderUnavailableError, Vectors, checked, encodable, prefixes_of

_AT_ONCE = 64
_LONGEST_TEXT = 8192
_KNOWN_GOOD = "ready"
_QUESTION_S = 2.0
_BYTES_A_NUMBER = 32
_DIMENSIONS = range(1, 8193)
_PLAIN = re.compile(r"[\x20-\x7e]{1,200}")
_REFUSED = frozenset((400, 413, 422))
_Numbers = list[float] | Vectors
_REMEDIES = {
    401: "check CARDLOG_EMBED_KEY",
    403: "check CARDLOG_EMBED_KEY; a key of Cardlog needs the scope read",
    404: "check CARDLOG_EMBED_URL and CARDLOG_EMBED_MODEL",
}


class RemoteEmbedder:
    """Embeds with the server at ``url``, whose path ends before ``/embeddings``. Threads may share it.

    A server of `cardlog serve embed` names its fingerprint, so its vectors and those of the same model on this machine
    are of one space. Any other server gets a fingerprint of its host. A call of ``embed`` ends after ``timeout_s``
    seconds for each 64 texts, and a question after two seconds at most, whatever the server sends.
    Raises :class:`EmbedderUnavailableError` while the server is away, and for every answer without valid vectors: the
    texts then wait. Raises ValueError for a text that the server refuses while it embeds others.
    """

    def __init__(self, url: str, model: str, *, key: str = "", timeout_s: float = 30.0) -> None:
        self.name = model
        self._url = url.rstrip("/") + "/embeddings"
        self._timeout_s = timeout_s
        # An answer is not unpacked, because a small one may unpack to gigabytes.
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        self._client = httpx2.AsyncClient(
            headers=headers | ({"authorization": f"Bearer {key}"} if key else {}),
            follow_redirects=False,
            timeout=httpx2.Timeout(timeout_s, connect=min(5.0, timeout_s)),
        )
        self._question_prefix, self._text_prefix = prefixes_of(model)
        self._asking = threading.Lock()
        self._known: tuple[str, int] | None = None
        self._ours = False

    @property
    def dimension(self) -> int:
        return self._space(self._until())[1]

    @property
    def fingerprint(self) -> str:
        return self._space(self._until())[0]

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            vectors[start : start + _AT_ONCE] = self._vectors(
                texts[start : start + _AT_ONCE], "passage", self._until()
            )
        return vectors

    def embed_question(self, text: str) -> Vectors:
        vector: Vectors = self._vectors([text], "query", self._until(_QUESTION_S))[0]
        return vector

    def _until(self, most_s: float = inf) -> float:
        return time.monotonic() + min(most_s, self._timeout_s)

    def _vectors(self, texts: Sequence[str], kind: str, until: float) -> Vectors:
        space = self._space(until)
        answer = self._ask(texts, kind, until)
        if answer is None:
            if self._ask([_KNOWN_GOOD], kind, until) is None:
                raise self._away("it refuses every text; check CARDLOG_EMBED_MODEL")
            raise ValueError(f"the embedder {self.name} refuses these words")
        found, fingerprint = answer
        vectors = checked(found, len(texts), space[1], self.name)
        if fingerprint != (space[0] if self._ours else None):
            self._known = None
            raise self._away(
                f"it now embeds as {fingerprint or 'another embedder'}, and before as {space[0]}"
            )
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not (np.isfinite(norms).all() and (norms > 1e-6).all()):
            raise self._away("it answered a vector without a direction")
        unit: Vectors = vectors / norms
        return unit

    def _space(self, until: float) -> tuple[str, int]:
        """Returns the fingerprint and the dimension. The first call asks the server."""
        if not self._asking.acquire(timeout=max(0.0, until - time.monotonic())):
            raise self._late()
        try:
            if self._known is None:
                answer = self._ask([_KNOWN_GOOD], "passage", until)
                if answer is None:
                    raise self._away("it refuses every text; check CARDLOG_EMBED_MODEL")
                found, fingerprint = answer
                dimension = len(found[0]) if len(found) == 1 else 0
                if dimension not in _DIMENSIONS:
                    raise self._away("it answered no vector")
                self._ours = fingerprint is not None
                host = urlsplit(self._url).netloc.rpartition("@")[2]
                self._known = (fingerprint or f"{self.name}@{host} remote {dimension}", dimension)
            return self._known
        finally:
            self._asking.release()

    def _ask(self, texts: Sequence[str], kind: str, until: float) -> tuple[list[_Numbers], str | None] | None:
        """Returns the vectors in the order of the texts, and the server's fingerprint. None: it refuses the texts."""
        # Numbers as text take longer to write and to read than their vector takes to send.
        asked: dict[str, object] = {
            "model": self.name,
            "encoding_format": "base64" if self._ours else "float",
        }
        cut = [encodable(text[:_LONGEST_TEXT]) for text in texts]
        if self._ours or self._known is None:
            asked["input_type"] = kind
        if not self._ours and self._known is not None:
            prefix = self._question_prefix if kind == "query" else self._text_prefix
            cut = [prefix + text for text in cut]
        status, content = self._post(orjson.dumps(asked | {"input": cut}), len(texts), until)
        if status in _REFUSED and self._known is None:
            # Other servers may not know the kind of a text.
            asked.pop("input_type", None)
            status, content = self._post(orjson.dumps(asked | {"input": cut}), len(texts), until)
        if status in _REFUSED:
            return None
        if status != 200:
            raise self._away(f"it answered {status}; {_REMEDIES.get(status, 'try again later')}")
        return self._read(content, len(texts))

    def _post(self, body: bytes, count: int, until: float) -> tuple[int, bytes]:
        most = 65_536 + count * (self._known[1] if self._known else _DIMENSIONS.stop) * _BYTES_A_NUMBER
        try:
            return asyncio.run_coroutine_threadsafe(self._exchange(body, most, until), _started()).result()
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise self._late() from error
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise self._away(type(error).__name__) from error

    async def _exchange(self, body: bytes, most: int, until: float) -> tuple[int, bytes]:
        content = bytearray()
        async with (
            asyncio.timeout(until - time.monotonic()),
            self._client.stream("POST", self._url, content=body) as response,
        ):
            async for part in response.aiter_raw():
                content += part
                if len(content) > most:
                    raise self._away(f"its answer is longer than {most:,} bytes")
            return response.status_code, bytes(content)

    def _read(self, content: bytes, count: int) -> tuple[list[_Numbers], str | None]:
        try:
            document = orjson.loads(content)
            rows = sorted(document["data"], key=lambda row: int(row["index"]))
            found = [_numbers(row["embedding"]) for row in rows]
            fingerprint = document.get("fingerprint")
            if len(found) != count or [row["index"] for row in rows] != list(range(count)):
                raise ValueError
            if len({len(row) for row in found}) > 1:
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise self._away("its answer is not a list of embeddings") from error
        good = isinstance(fingerprint, str) and _PLAIN.fullmatch(fingerprint)
        return found, fingerprint if good else None

    def _late(self) -> EmbedderUnavailableError:
        return self._away("it did not answer within its time")

    def _away(self, reason: str) -> EmbedderUnavailableError:
        host = urlsplit(self._url).netloc.rpartition("@")[2]
        return EmbedderUnavailableError(f"the embedding server {host} gives no vectors: {reason}")


_starting = threading.Lock()


def _started() -> asyncio.AbstractEventLoop:
    """Returns the event loop of all calls, which has a thread of its own.

    A loop ends a call at its deadline wherever the call is. A blocking client only bounds each read.
    """
    with _starting:
        return _loop()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="embedding server", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_loop.cache_clear)  # a fork has no thread of its parent


def _numbers(vector: object) -> _Numbers:
    """Returns the numbers of a vector of an answer. Raises ValueError when there are none."""
    if isinstance(vector, str):
        return np.frombuffer(base64.b64decode(vector, validate=True), dtype="<f4")
    if not (isinstance(vector, list) and all(type(number) in {int, float} for number in vector)):
        raise ValueError
    return vector
