"""The examples of the chapter on three kinds of cards, from walls of projects to the clock on the wrist."""

from __future__ import annotations

from tests.support.person import Person


def test_a_project_is_a_wall(person: Person) -> None:
    person.say("The hotel shortlist for Kyoto is Granvia and Sora.", project_id="kyoto")
    person.say("The site shortlist for the data center is Tainan.", project_id="recovery")
    [hotel] = person.recall("find that shortlist", project_id="kyoto", session_id="new")
    assert "Granvia" in hotel["content"]
    assert person.recall("find that shortlist") == []
    assert len(person.recall("find that shortlist", project_id="*")) == 2
