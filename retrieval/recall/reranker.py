"""The optional reranking: a cross-encoder on another server reads the question beside each of the best texts.

The server is behind the route ``/rerank`` of Text Embeddings Inference, Jina and Cohere. It is trusted with the
question and with the texts, and with nothing else: each answer is bounded, timed and checked.
"""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import httpx2
import orjson

from events.platform.settings import Settings
from events.resources.recall import ChannelReport
from retrieval.recall.channel_executor import Status

NAME = "rerank"
"""The name under which an answer reports it, beside the channels."""
_FAILURES = 3
_PAUSE_S = 30.0
_LONGEST_TEXT = 4096
_BYTES_A_TEXT = 512
_SCORES = {True: "relevance_score", False: "score"}


class Reranker:
    """Asks the server at ``url``, whose path ends before ``/rerank``. One event loop uses it.

    With a ``model`` it sends ``model`` and ``documents``, as Jina and Cohere want, and without one ``texts``, as Text
    Embeddings Inference wants. After three failures in a row nothing is sent for 30 s, and one more failure then does
    the same again.
    """

    def __init__(
        self,
        url: str,
        *,
        model: str = "",
        key: str = "",
        deadline_ms: int = 500,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url.rstrip("/") + "/rerank"
        self._model = model
        self._deadline_s = deadline_ms / 1000
        self._clock = clock
        self._failures = 0
        self._until = 0.0
        self._client = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {key}"} if key else {},
            follow_redirects=False,
            timeout=self._deadline_s,
        )

    async def scores(self, query: str, texts: Sequence[str]) -> tuple[list[float] | None, ChannelReport]:
        """Returns a score for each text and the report. A greater score is nearer. None: the report tells why.

        Never raises.
        """
        began = self._clock()
        if began < self._until:
            left = f"it failed {self._failures} times in a row; tried again in {self._until - began:.0f} s"
            return None, ChannelReport(status="quarantined", ms=0.0, hits=0, detail=left)
        found, detail = None, None
        status: Status = "ok"
        try:
            async with asyncio.timeout(self._deadline_s):
                found = await self._asked(query, texts)
        except (TimeoutError, httpx2.TimeoutException):
            status, detail = "late", f"{self._host} did not answer within {self._deadline_s * 1000:.0f} ms"
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            reason = str(error) if type(error) is ValueError else type(error).__name__
            status, detail = "down", f"{self._host} gives no order: {reason}"
        self._failures = 0 if found is not None else self._failures + 1
        if self._failures >= _FAILURES:
            self._until = self._clock() + _PAUSE_S
        hits = 0 if found is None else len(found)
        ms = (self._clock() - began) * 1000
        return found, ChannelReport(status=status, ms=ms, hits=hits, detail=detail)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    @property
    def _host(self) -> str:
        return urlsplit(self._url).netloc.rpartition("@")[2]

    async def _asked(self, query: str, texts: Sequence[str]) -> list[float]:
        cut = [text[:_LONGEST_TEXT] for text in texts]
        asked: dict[str, object] = {"query": query[:_LONGEST_TEXT]}
        if self._model:
            asked |= {"model": self._model, "documents": cut, "top_n": len(cut), "return_documents": False}
        else:
            asked |= {"texts": cut, "truncate": True}
        content = bytearray()
        headers = {"content-type": "application/json"}
        async with self._client.stream(
            "POST", self._url, content=orjson.dumps(asked), headers=headers
        ) as response:
            async for part in response.aiter_bytes():
                content += part
                if len(content) > 4096 + len(cut) * _BYTES_A_TEXT:
                    raise ValueError("its answer is too long")
        if response.status_code != 200:
            hint = "; check CARDLOG_RERANK_KEY" if response.status_code in (401, 403) else ""
            raise ValueError(f"it answered {response.status_code}{hint}")
        return _scores(bytes(content), len(cut))


def reranker_of(settings: Settings) -> Reranker | None:
    """Returns the reranker of ``settings``. None: there is none."""
    if not settings.rerank_url:
        return None
    return Reranker(
        settings.rerank_url,
        model=settings.rerank_model,
        key=settings.rerank_key,
        deadline_ms=settings.rerank_deadline_ms,
    )


def _scores(content: bytes, count: int) -> list[float]:
    """Returns the scores in the order of the texts. Raises ValueError unless each text has one finite score."""
    try:
        document = orjson.loads(content)
        in_results = isinstance(document, dict)
        rows = document["results"] if in_results else document
        found = {row["index"]: row[_SCORES[in_results]] for row in rows}
        scores = [found[index] for index in range(count)]
        good = len(rows) == count and all(
            type(each) in (int, float) and math.isfinite(each) for each in scores
        )
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        good = False
    if not good:
        raise ValueError("its answer is not one finite score for each text")
    return [float(each) for each in scores]
