"""The parts of a prompt beside its cards: pinned references and concepts, problems, facts, goals, threads."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import psycopg

from events.access.principal import Principal
from events.core.evolution.old_pointers import resolved
from events.core.pointers import MISSING, Tokens, value_at
from events.http.access import reaches_document
from events.http.errors import ProblemError, invalid
from events.modes.registry import Modes
from events.platform.settings import Settings
from events.problems.problem import Problem
from events.references.reference import Reference
from events.threads import Thread
from projectors.core.documents import feed_of
from projectors.core.loading import TooFarBehindError
from retrieval.cards.card import ListedCard
from retrieval.cards.reader import CardReader
from retrieval.cards.slice import Slice
from retrieval.context.context import BudgetTooSmallError, Prompt, PromptParts, context_of
from retrieval.core import DocumentReader, facts_at, goals_of
from retrieval.http.core_routes import pointer_of
from retrieval.http.derived_routes import present_threads
from retrieval.pool import Pool
from retrieval.problems import ProblemReader
from retrieval.recall.answer import RecallAnswer
from retrieval.recall.ask import Ask
from retrieval.references import ReferenceReader

_MOST_CONCEPTS = 100
"""The pinned concepts that a prompt may have, the latest recorded."""
_MOST_THREADS = 20
"""The threads that a prompt may have, the last changed."""

Fresh = Callable[[str | None, str], Awaitable[CardReader]]
_T = TypeVar("_T")
_Topic = TypeVar("_Topic", Problem, Thread)


class PromptReader:
    """Reads the parts of prompts. A part that cannot be read is left out with a warning.

    ``pool`` must be of the primary. ``fresh`` gives the reader of the cards.
    """

    def __init__(self, pool: Pool, settings: Settings, fresh: Fresh) -> None:
        self._references = ReferenceReader(pool)
        self._problems = ProblemReader(pool)
        self._threads = partial(present_threads, pool)
        self._documents = DocumentReader(pool, feed_of(settings))
        self._fresh = fresh

    async def parts(
        self, caller: Principal, question: Ask, answer: RecallAnswer, paths: list[str]
    ) -> PromptParts:
        """Returns the parts for a question and its answer. ``paths`` are pointers into the core document."""
        warnings: list[str] = []
        asks_now = question.as_of is None and question.known_at is None

        async def read(what: str, reading: Awaitable[_T], otherwise: _T) -> _T:
            try:
                return await reading
            except (psycopg.Error, TimeoutError, TooFarBehindError, ProblemError) as error:
                warnings.append(f"{what} missing: {type(error).__name__}")
                return otherwise

        async def still_open(
            what: str, status: str, present: Callable[[str], Awaitable[list[_Topic]]]
        ) -> list[_Topic]:
            # They are those of today, and a question about the past gets none.
            found = await read(f"open {what} are", present(question.user_id), []) if asks_now else []
            return [
                each
                for each in found
                if each.status == status and _is_asked_for(caller, question, answer.known_modes, each)
            ]

        places = [pointer_of(each) for each in paths]
        references = await read("pinned references are", self._pinned_references(caller, question), [])
        problems = await still_open("problems", "active", self._problems.present)
        document = self._core_parts(caller, question, places)
        facts, goals, unknown = await read("the core document is", document, ([], [], []))
        warnings += [f"paths: the core document has no /{name}" for name in unknown]
        of_modes = self._pinned_concepts(caller, question, answer.modes)
        concepts = await read("pinned concepts are", of_modes, [])
        threads = await still_open("threads", "open", self._threads)
        return PromptParts(
            references, problems, facts, goals, concepts, threads[:_MOST_THREADS], tuple(warnings)
        )

    async def _pinned_concepts(
        self, caller: Principal, question: Ask, modes: tuple[str, ...] | None
    ) -> list[ListedCard]:
        """Returns the pinned concepts of the projects and ``modes``. A question about the past gets none."""
        if question.as_of is not None or question.known_at is not None or "knowledge" not in question.kinds:
            return []
        asked = Slice(
            user_id=question.user_id,
            now=question.now,
            kinds=("knowledge",),
            projects=None if question.projects is None else tuple(question.projects),
            statuses=("current",),
            conditions={"pinned": True} | ({} if modes is None else {"mode": list(modes)}),
            reach=caller.reach,
        )
        reader = await self._fresh(None, question.user_id)
        found = await reader.page(await reader.prepared(asked), limit=_MOST_CONCEPTS)
        return sorted(found.cards, key=lambda card: card.card_id)

    async def _core_parts(
        self, caller: Principal, question: Ask, places: list[Tokens]
    ) -> tuple[list[tuple[str, str]], list[str], list[str]]:
        """Returns the values at pointers of the core document, the goals, and the categories that it does not have.

        A question about the past gets the values of then. A question about the past, or about another project than that
        of the document, gets no goals. The document is outside modes.
        """
        aims = (
            question.as_of is None
            and question.known_at is None
            and (question.projects is None or "default" in question.projects)
        )
        if not (places or aims) or not reaches_document(caller):
            return [], [], []
        if question.as_of is None and question.known_at is None:
            state = (await self._documents.present(question.user_id)).state
        else:
            as_of = question.as_of or question.now
            state = (await self._documents.past(question.user_id, as_of, question.known_at)).state
        asked = {resolved(state.document, place)[:1] for place in places}
        unknown = sorted(name for each in asked for name in each if value_at(state.document, each) is MISSING)
        return facts_at(state.document, places), goals_of(state.document) if aims else [], unknown

    async def _pinned_references(self, caller: Principal, question: Ask) -> list[Reference]:
        """Returns the pinned references of a user and the user's teams in the caller's reach.

        A question about the past gets those of then.
        """
        owners = await self._references.owners_of(question.user_id)
        if question.as_of is None and question.known_at is None:
            found = await self._references.present(owners)
        else:
            found = await self._references.past(owners, question.as_of, question.known_at)
        return [
            each
            for each in found
            if each.tier == "pinned"
            and not each.archived
            and caller.reach.admits(each.name.project_id or "default", None)
        ]


def _is_asked_for(caller: Principal, question: Ask, modes: Modes, each: Problem | Thread) -> bool:
    return (
        (question.projects is None or each.project_id in question.projects)
        and (
            question.modes is None
            or modes.belonging(each.project_id, each.mode)
            in {modes.belonging(each.project_id, name) for name in question.modes}
        )
        and caller.reach.admits(each.project_id, each.mode)
    )


def for_prompt(question: Ask, *, knowledge: bool) -> Ask:
    """Returns the recall of a prompt. Without ``knowledge`` it leaves out knowledge cards."""
    if knowledge:
        return question
    return replace(question, kinds=tuple(kind for kind in question.kinds if kind != "knowledge"))


def prompt_of(answer: RecallAnswer, token_budget: int | None, parts: PromptParts) -> Prompt:
    """Returns the prompt for an answer. Raises a 422 :class:`ProblemError`, which names the least budget that works."""
    try:
        return context_of(answer, token_budget, parts)
    except BudgetTooSmallError as error:
        raise invalid(
            "token_budget", f"is {token_budget}; {error}: allow at least {error.least}", least=error.least
        ) from None
