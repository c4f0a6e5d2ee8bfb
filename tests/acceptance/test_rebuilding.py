"""An operator proves the log, saves it and rebuilds the cards of a Cardlog that runs."""

from pathlib import Path

from tests.acceptance.test_examples import EXAMPLES, run
from tests.support.stack import Running


def test_an_operator_rebuilds_and_verifies(watched: Running, tmp_path: Path) -> None:
    watched.redis.xadd("turns", {"user_id": "operator", "text": "I live in Bern."})
    watched.wait()
    archive = tmp_path / "archive.jsonl"
    printed = run(EXAMPLES / "rebuild_and_verify.sh", watched.data, archive)
    assert "events verified" in printed
    assert "cards: equal to the live tables" in printed
    exported = archive.read_text("utf-8")
    assert '"type":"TurnRecorded"' in exported
    assert "I live in Bern." not in exported, "the payloads are sealed"
