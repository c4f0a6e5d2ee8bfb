"""The registry of modes: whatever was declared, renamed and deleted, every name means one mode that exists."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from events.modes import registry as registries
from events.modes.registry import NOTHING, SEPARATOR, ModeRefusedError, Modes
from events.types.modes import Mode, ModeRegistry

NAMES = st.sampled_from(("a", "b", "c"))
SCOPES = st.sampled_from((None, "p", "q"))
OPS = st.lists(st.tuples(st.sampled_from(("declare", "rename", "delete")), SCOPES, NAMES, NAMES), max_size=14)


def after(ops: list[tuple[str, str | None, str, str]]) -> list[ModeRegistry]:
    """Returns the registries after each op that is not refused."""
    found = [NOTHING]
    for op, scope, name, other in ops:
        try:
            if op == "declare":
                made = Mode(name=name, project_id=scope, embedders=(other,))
                found.append(registries.declared(found[-1], made, is_default=other == name))
            elif op == "rename":
                found.append(registries.renamed(found[-1], (scope, name), other))
            else:
                found.append(registries.deleted(found[-1], (scope, name)))
        except ModeRefusedError:
            pass
    return found


@example(
    [
        ("declare", None, "a", "c"),
        ("declare", "p", "a", "c"),
        ("rename", None, "a", "b"),
        ("rename", None, "b", "a"),
        ("rename", "p", "a", "c"),
    ]
)
@given(OPS)
def test_every_name_means_a_mode_that_exists_or_itself(ops: list[tuple[str, str | None, str, str]]) -> None:
    for registry in after(ops):
        modes = Modes(registry)
        live = {(each.project_id, each.name) for each in registry.modes if not each.deleted}
        known = {each.name for each in registry.modes} | {each.old for each in registry.former_names}
        for project in ("p", "q", "other"):
            here = {name for scope, name in live if scope in (None, project)}
            assert {each.name for each in modes.in_force(project)} == here
            for name in ("a", "b", "c"):
                meant = modes.meaning(project, name)
                assert meant in here | {"general"} or (meant == name and name not in here)
                assert modes.meaning(project, meant) == meant
                if meant in here:
                    assert modes.mode(project, name) is not None
                if name not in known:
                    assert meant == name
            default = modes.default(project)
            assert default is None or default in here


@given(OPS)
def test_the_names_of_modes_are_the_names_that_mean_them(ops: list[tuple[str, str | None, str, str]]) -> None:
    modes = Modes(after(ops)[-1])
    for asked in ("a", "b", "c", "general"):
        names = modes.names_of([asked])
        for project in ("p", "q", "other"):
            for name in ("a", "b", "c"):
                if modes.meaning(project, name) == asked:
                    assert name in names or project + SEPARATOR + name in names


@given(OPS)
def test_a_mode_keeps_every_model_it_had(ops: list[tuple[str, str | None, str, str]]) -> None:
    found = after(ops)
    had: dict[str, set[str]] = {}
    for registry in found:
        for each in registry.modes:
            if each.project_id is None:
                had.setdefault(each.name, set()).update(each.embedders)
    last = Modes(found[-1])
    for name, models in had.items():
        assert models <= last.models(last.meaning("", name)) | last.models(name)


def test_a_former_name_is_not_taken_by_another_mode() -> None:
    first = registries.declared(NOTHING, Mode(name="a"), is_default=True)
    renamed = registries.renamed(first, (None, "a"), "b")
    assert (Modes(renamed).meaning("p", "a"), renamed.default_mode) == ("b", "b")
    with pytest.raises(ModeRefusedError, match="former name of b"):
        registries.declared(renamed, Mode(name="a"), is_default=None)
    back = registries.renamed(renamed, (None, "b"), "a")
    assert (Modes(back).meaning("p", "b"), back.default_mode) == ("a", "a")
    gone = registries.deleted(back, (None, "a"))
    assert (Modes(gone).meaning("p", "a"), Modes(gone).meaning("p", "b")) == ("general", "general")
    assert Modes(gone, {"a": "some/model"}).meaning("p", "a") == "a", "everybody has this mode"
