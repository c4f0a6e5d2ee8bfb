"""Holds questions and answers to what the caller's key may see."""

from __future__ import annotations

from dataclasses import replace

from events.access.principal import Principal
from events.http.access import owner_of
from events.http.errors import invalid, missing
from retrieval.recall.answer import RecallAnswer
from retrieval.recall.ask import Ask


def asked_by(caller: Principal, question: Ask) -> Ask:
    """Returns the recall with the storage id of its user, held to the projects and modes of the key.

    An explanation names withheld cards of every mode, so a key that is limited to modes gets none. Raises a 404 problem
    for a user, a project or a mode out of reach, and 422 when the key has several modes and the question names none.
    """
    owner = owner_of(caller, question.user_id)
    projects, modes = question.projects, question.modes
    if caller.projects is not None:
        allowed = caller.projects if projects is None else caller.projects.intersection(projects)
        if not allowed:
            raise missing("project", "project_id")
        projects = tuple(sorted(allowed))
    if caller.modes is not None:
        if question.across:
            modes = tuple(sorted(caller.modes))
        elif modes is None:
            if len(caller.modes) > 1:
                known = ", ".join(sorted(caller.modes))
                raise invalid(
                    "mode", f"is required, because this key is limited to modes; use one of {known}"
                )
            modes = tuple(caller.modes)
        if not caller.modes.issuperset(modes):
            raise missing("mode", "mode")
    return replace(
        question,
        user_id=owner,
        projects=projects,
        modes=modes,
        across=question.across and caller.modes is None,
        explain=question.explain and caller.modes is None,
        told_modes=caller.modes,
    )


def within(caller: Principal, answer: RecallAnswer) -> RecallAnswer:
    """Returns the answer without cards and insights out of the caller's reach.

    A contradiction stays when the answer has all its cards. An arbitration is about one project, so it also stays for
    a key without a limit of modes.
    """
    reach = caller.reach
    if not reach.limited:
        return answer
    cards = [each for each in answer.cards if reach.admits(each.card.project_id, each.card.mode)]
    shown = {each.card_id for each in cards}
    return replace(
        answer,
        cards=cards,
        insights=[each for each in answer.insights if reach.admits(each.project_id, each.mode)],
        contradictions=[
            each
            for each in answer.contradictions
            if shown.issuperset(each.card_ids) or (each.arbitration_id is not None and reach.modes is None)
        ],
    )
