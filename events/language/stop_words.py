"""Stop words: words without a topic. Term search ignores them in cards and questions."""

from importlib import resources


def _groups() -> dict[str, frozenset[str]]:
    """Returns the words of ``stop_words.txt`` by their group."""
    groups: dict[str, list[str]] = {}
    words: list[str] = []
    for line in resources.files("events.language").joinpath("stop_words.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            words = groups.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            words += line.split()
    return {head: frozenset(members) for head, members in groups.items()}


_GROUPS = _groups()

ENGLISH = _GROUPS["english"]
ENGLISH_QUESTION = _GROUPS["english question"]
"""Words without a topic in a question, but with one in a card: "kind" in "she is kind"."""
CHINESE = _GROUPS["chinese"] | _GROUPS["chinese question"]
