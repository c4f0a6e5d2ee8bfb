"""Writes the content of a card: a short sentence in the language and script of the turn."""

from functools import lru_cache

from events.language.chinese_script import to_simplified
from events.language.concepts import concept
from events.language.values import word_set
from ingest.extraction.rules.words import SETS, rows, table

_HOLDS: dict[str, tuple[str, str]] = {}
for _row in rows(table("wording.txt")):
    _key, _en, _zh = _row.split(" | ")
    _HOLDS[_key] = (_en, _zh)
_NAMED = word_set(
    "spouse partner parent sibling child relative friend colleague manager subordinate neighbor acquaintance "
    "living_situation"
)
_VERBS = tuple("住在養喜使寫會正有對不開吃來生服身")


def state(key: str, value: str, entity: str, *, ended: bool, chinese: bool, kind: str | None) -> str:
    """Returns the sentence of a state. The entity stands before it unless the entity is the owner of the memory.

    The words of a Chinese sentence are in traditional script.
    """
    text = (_chinese if chinese else _english)(key, value, ended, kind)
    if entity != "user" and chinese:
        of = "" if key == "age" or text.startswith(_VERBS) else "的"
        text = f"{entity}{of or ' ' * entity.isascii()}{text}"
    elif entity != "user":
        who = f"My {entity}" if entity in SETS["kin"] else entity
        text = f"{who} {text[:1].lower()}{text[1:]}"
    return text


def fold_script_except(text: str, *kept: str) -> str:
    """Returns ``text`` in simplified script. The strings in ``kept`` stay in the speaker's script."""
    folded = to_simplified(text)
    for said in kept:
        folded = folded.replace(to_simplified(said), said)
    return folded


def _english(key: str, value: str, ended: bool, kind: str | None) -> str:
    if kind is not None and (key == "pet" or key in _NAMED):
        text = f"Has {_a(kind)} named {value}"
    elif key == "pet":
        text = f"Has {value}" if value.endswith("s") else f"Has {_a(value)}"
    else:
        text = _HOLDS.get(key, (f"Has the {key.replace('_', ' ')}: {{v}}", ""))[0]
        text = text.replace("{v}", value).replace("{a}", _a(value))
    return f"No longer {text[:1].lower()}{text[1:]}" if ended else text


def _chinese(key: str, value: str, ended: bool, kind: str | None) -> str:
    if key == "pet" and kind is not None:
        text = f"養了{kind}，名叫{value}"
    elif key in _NAMED and kind is not None:
        text = f"{kind}叫{value}"
    else:
        text = _HOLDS.get(key, ("", f"{_label(key)}是{{v}}"))[1].replace("{v}", value)
    if not ended:
        return text
    return f"不再{text}" if text.startswith(_VERBS) else f"{_label(key)}不再是{value}"


def _a(words: str) -> str:
    return f"{'an' if words[:1].lower() in 'aeiou' else 'a'} {words}"


@lru_cache(maxsize=256)
def _label(key: str) -> str:
    """Returns the first Chinese alias of a concept, or the key when there is none."""
    known = concept(key)
    names = known.aliases if known is not None else ()
    return next((name for name in names if not name.isascii()), key)
