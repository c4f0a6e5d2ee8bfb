"""The embedding service: one loaded model for many workers and services, as an OpenAI-style ``/v1/embeddings``."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import FastAPI
from pydantic import Field

from events.access.limiters import ConcurrencyLimiter, SaturatedError
from events.http.access import Reader
from events.http.audit import audit_of
from events.http.authentication import authentication_of
from events.http.body import Body
from events.http.errors import ProblemError, invalid
from events.http.service import Probe, install, running
from events.platform.settings import Settings
from events.resources.resource import Resource
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, Vectors, usable_cores
from projectors.embedding.embedders import embedders_of

MOST_TEXTS = 256
LONGEST_TEXT = 32_768
_WAITS_S = 5.0
_BODY_BYTES = 16 * 1024 * 1024


class EmbeddingsIn(Body):
    """Texts to embed."""

    input: (
        Annotated[str, Field(max_length=LONGEST_TEXT)]
        | Annotated[
            list[Annotated[str, Field(max_length=LONGEST_TEXT)]], Field(min_length=1, max_length=MOST_TEXTS)
        ]
    )
    """one text or several"""
    model: Annotated[str, Field(max_length=200, description="the model; by default the service's")] = ""
    input_type: Literal["query", "passage"] = "passage"
    """a question, or words that answer questions"""
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int | None, Field(ge=1, description="the model's own number, or absent")] = None
    user: Annotated[str | None, Field(max_length=200, description="not used")] = None


class Embedding(Resource):
    """The vector of one text: numbers, or for base64 their little-endian 32-bit floats."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(Resource):
    """The number of characters; the service counts no tokens."""

    prompt_tokens: int
    total_tokens: int


class Embeddings(Resource):
    """The vectors in the order of the texts. Vectors of two fingerprints must not be compared."""

    object: Literal["list"]
    model: str
    fingerprint: str
    data: list[Embedding]
    usage: Usage


def create_app(settings: Settings) -> FastAPI:  # noqa: C901 - its routes count as branches
    """Returns the embedding service. It keeps no text, so any number of processes may run."""
    settings = replace(settings, embed_url="")
    embedders = embedders_of(settings)
    # A recall waits for the vector of its question, and nobody waits for those of cards.
    limiters = {
        kind: ConcurrencyLimiter(max(2, 2 * usable_cores()), _WAITS_S, "embeddings")
        for kind in ("query", "passage")
    }

    def available() -> dict[str, Embedder]:
        found: dict[str, Embedder] = {}
        for mode in embedders.modes:
            try:
                each = embedders.of(mode)
                found.setdefault(each.name, each)
            except EmbedderUnavailableError:
                continue
        return found

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        for each in (await asyncio.to_thread(available)).values():
            await asyncio.to_thread(each.embed_question, "ready")
        async with running(app):
            yield
        embedders.close()

    app = FastAPI(title="Cardlog embedding API", version="1", lifespan=lifespan)
    install(
        app,
        settings,
        bodies={"/v1/embeddings": _BODY_BYTES},
        audit=audit_of(settings, "embed"),
        authentication=authentication_of(settings, "embed"),
    )

    @app.post("/v1/embeddings", summary="Embed texts", tags=["embeddings"])
    async def embeddings(body: EmbeddingsIn, caller: Reader) -> Embeddings:
        texts = [body.input] if isinstance(body.input, str) else body.input

        def work() -> tuple[Embedder, Vectors]:
            embedder = _named(body.model)
            if body.dimensions not in {None, embedder.dimension}:
                raise invalid(
                    "dimensions", f"must be {embedder.dimension} or absent: {embedder.name} has no other"
                )
            if body.input_type == "query":
                return embedder, np.stack([embedder.embed_question(text) for text in texts])
            return embedder, embedder.embed(texts)

        try:
            async with limiters[body.input_type].place(caller.asker):
                embedder, vectors = await asyncio.to_thread(work)
        except SaturatedError as error:
            raise ProblemError(
                503, "Too many embeddings", str(error), headers={"retry-after": "1"}
            ) from error
        except EmbedderUnavailableError as error:
            raise ProblemError(503, "Embedder unavailable", str(error)) from error
        size = sum(map(len, texts))
        return Embeddings(
            object="list",
            model=embedder.name,
            fingerprint=embedder.fingerprint,
            data=[
                Embedding(object="embedding", index=index, embedding=_encoded(row, body.encoding_format))
                for index, row in enumerate(vectors)
            ],
            usage=Usage(prompt_tokens=size, total_tokens=size),
        )

    @app.get("/readyz", summary="Can texts be embedded?")
    async def readiness() -> Probe:
        if not await asyncio.to_thread(available):
            raise ProblemError(503, "Not ready", "no embedding model is here; run cardlog doctor")
        return Probe(status="ready")

    def _named(model: str) -> Embedder:
        found = available()
        try:
            default = embedders.of(None)
        except EmbedderUnavailableError as error:
            if not model or model not in found:
                raise ProblemError(503, "Embedder unavailable", str(error)) from error
            return found[model]
        if model and model not in found:
            raise invalid("model", f"is not served here; use one of: {', '.join(found)}")
        return found[model] if model else default

    return app


def _encoded(vector: Any, form: str) -> Any:
    if form == "base64":
        return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
    return [float(number) for number in vector]
