"""Makes English states of how somebody wants to be answered: the language and the style."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.scene import Make, Scene

_STANDING = re.compile(
    r"\b(?:always|from now on|from here on|in (?:the )?future|going forward|by default|every time|each time|whenever|"
    r"henceforth)\b",
    re.IGNORECASE,
)


# Somebody else's wish, or a question: "she said to always reply in French".
_REPORTED = re.compile(
    r"\b(?:said|says|told|asked|asks|wants|should|could|must|he|she|they|if|when|why|how|to)\b", re.IGNORECASE
)


def _reply(key: str, *, wished: bool = False) -> Make:
    """Makes a standing wish about answers. A wish for one answer only ("answer in French, please") states nothing."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        plain = scene.sentence.plain
        if not wished and (not _STANDING.search(plain) or _REPORTED.search(plain, 0, found.start())):
            return
        yield StateDraft(
            entity=scene.owner, key=key, value=scene.said(found, "v"), span=found.span(), announced=True,
            cardinality="single_value" if key == "reply_language" else None,
        )  # fmt: skip

    return make


MAKES: dict[str, Make] = {
    "reply_language": _reply("reply_language"),
    "reply_style": _reply("reply_style"),
    "reply_style_wished": _reply("reply_style", wished=True),
    "reply_language_wished": _reply("reply_language", wished=True),
}
