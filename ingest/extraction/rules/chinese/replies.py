"""Makes Chinese states of how somebody wants to be answered: the language and the style."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingest.extraction.rules.drafts import Draft, StateDraft
from ingest.extraction.rules.scene import Make, Scene

_STANDING = re.compile("以后|今后|往后|从现在[起开]|从今|从此|一律|永远|一直|每次|都|总是")
# Somebody else's wish, or a question: 老师叫我以后都用英文回答.
_REPORTED = re.compile("[他她]|[叫要让请](?:我|他|她|大家)|老师|老板|主管|客户|如果|要是|吗|为什么|怎么")


def _reply(key: str) -> Make:
    """Makes a standing wish about answers. A wish for one answer only (請用英文回答) states nothing."""

    def make(found: re.Match[str], scene: Scene) -> Iterable[Draft]:
        plain = scene.sentence.plain
        if _STANDING.search(plain) is None or _REPORTED.search(plain):
            return
        yield StateDraft(
            entity=scene.owner, key=key, value=scene.said(found, "v"), span=found.span(), announced=True,
            cardinality="single_value" if key == "reply_language" else None,
        )  # fmt: skip

    return make


MAKES: dict[str, Make] = {
    "reply_language": _reply("reply_language"),
    "reply_style": _reply("reply_style"),
}
