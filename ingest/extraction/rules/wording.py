"""Writes the content of a card: a short sentence in the language and script of the turn."""

from __future__ import annotations

from functools import lru_cache

from events.language.chinese_script import to_simplified
from events.language.concepts import concept
from events.language.values import word_set

_FAVOURITES = {
    "colour": "顏色", "food": "食物", "book": "書", "movie": "電影", "music": "音樂", "sport": "運動", "fruit": "水果",
    "animal": "動物", "season": "季節", "game": "遊戲", "restaurant": "餐廳", "drink": "飲料", "dessert": "甜點",
    "author": "作家", "actor": "演員", "subject": "科目", "city": "城市", "flower": "花",
}  # fmt: skip
# The sentence of each concept in English and Chinese. The English one begins with a verb, so a name fits before it.
_HOLDS = {
    "residence": ("Lives in {v}", "住在{v}"),
    "employer": ("Works at {v}", "在{v}工作"),
    "work_location": ("Works in {v}", "在{v}上班"),
    "occupation": ("Works as {v}", "職業是{v}"),
    "hometown": ("Comes from {v}", "老家是{v}"),
    "birthplace": ("Was born in {v}", "出生於{v}"),
    "name": ("Is named {v}", "名字是{v}"),
    "pet": ("Has a pet: {v}", "養了{v}"),
    "likes": ("Likes {v}", "喜歡{v}"),
    "dislikes": ("Dislikes {v}", "不喜歡{v}"),
    "hobby": ("Has a hobby: {v}", "愛好是{v}"),
    "habit": ("Has a habit: {v}", "有{v}的習慣"),
    "instrument": ("Plays {v}", "會彈奏{v}"),
    "language": ("Speaks {v}", "會說{v}"),
    "learning": ("Is learning {v}", "正在學{v}"),
    "programming_language": ("Programs in {v}", "寫{v}"),
    "tool": ("Uses {v}", "使用{v}"),
    "tech_stack": ("Uses {v}", "使用{v}"),
    "browser": ("Uses the browser {v}", "瀏覽器用{v}"),
    "editor": ("Uses the editor {v}", "編輯器用{v}"),
    "operating_system": ("Uses {v} as operating system", "作業系統用{v}"),
    "phone_model": ("Has the phone {v}", "手機是{v}"),
    "vehicle": ("Drives {v}", "車是{v}"),
    "project_stage": ("Is at the stage: {v}", "目前階段：{v}"),
    "release_date": ("Is planned for release: {v}", "預計發布時間：{v}"),
    "deadline": ("Has its deadline: {v}", "截止時間：{v}"),
    "allergy": ("Is allergic to {v}", "對{v}過敏"),
    "medical_condition": ("Has {v}", "有{v}"),
    "medication": ("Takes {v}", "服用{v}"),
    "reply_language": ("Wants answers in {v}", "希望用{v}回答"),
    "reply_style": ("Wants answers: {v}", "希望回答方式：{v}"),
    "avoids": ("Does not eat or drink {v}", "不吃或不喝{v}"),
    "diet": ("Eats {v}", "飲食：{v}"),
    "school": ("Studies or studied at {v}", "學校是{v}"),
    "degree": ("Has the degree: {v}", "學歷是{v}"),
    "major": ("Studies {v}", "主修{v}"),
    "relationship_status": ("Is {v}", "感情狀況：{v}"),
    "volunteering": ("Volunteers at {v}", "在{v}當志工"),
    "birthday": ("Has the birthday {v}", "生日是{v}"),
    "age": ("Is {v} old", "{v}"),
    "height": ("Is {v} tall", "身高{v}"),
    "goal": ("Has the goal: {v}", "目標是{v}"),
}
_OWNED = word_set(
    "spouse partner parent sibling child relative friend colleague manager subordinate neighbor "
    "acquaintance living_situation"
)


_VERBS = ("住", "在", "養", "喜", "使", "寫", "會", "正", "有")


def state(
    key: str, value: str, entity: str, *, ended: bool, chinese: bool, traditional: bool, kind: str | None
) -> str:
    """Returns the sentence of a state. The entity stands before it unless the entity is the owner of the memory."""
    text = (_chinese if chinese else _english)(key, value, ended, kind)
    if entity != "user":
        text = (
            f"{entity}{' ' if entity.isascii() else ''}{text}"
            if chinese
            else f"{entity} {text[:1].lower()}{text[1:]}"
        )
    return fold_script_except(text, value, entity) if chinese and not traditional else text


def fold_script_except(text: str, *kept: str) -> str:
    """Returns ``text`` in simplified script. The strings in ``kept`` stay in the speaker's script."""
    folded = to_simplified(text)
    for said in kept:
        folded = folded.replace(to_simplified(said), said)
    return folded


def _english(key: str, value: str, ended: bool, kind: str | None) -> str:
    if key == "age":
        text = f"Is {value}" + (" years old" if value.isdigit() else "")
    elif key == "pet" and kind is not None:
        text = f"Has a {kind} named {value}"
    elif key in _OWNED:
        text = f"Has {_a(kind or _spoken(key))} named {value}" if value[:1].isupper() else f"Has {value}"
    elif key == "occupation":
        text = f"Works as {_a(value)}"
    elif key == "pet":
        text = f"Has a pet: {value}"
    else:
        text = _HOLDS.get(key, (f"Has {_spoken(key)}: {{v}}", ""))[0].replace("{v}", value)
    return f"No longer {text[:1].lower()}{text[1:]}" if ended else text


def _chinese(key: str, value: str, ended: bool, kind: str | None) -> str:
    if key == "pet" and kind is not None:
        text = f"養了{kind}，名叫{value}"
    elif key in _OWNED:
        text = f"{_label(key) if kind is None else kind}叫{value}"
    else:
        text = _HOLDS.get(key, ("", f"{_label(key)}是{{v}}"))[1].replace("{v}", value)
    if not ended:
        return text
    return f"不再{text}" if text.startswith(_VERBS) else f"{_label(key)}不再是{value}"


def _a(words: str) -> str:
    return f"{'an' if words[:1].lower() in 'aeiou' else 'a'} {words}"


def _spoken(key: str) -> str:
    return key.replace("_", " ")


@lru_cache(maxsize=256)
def _label(key: str) -> str:
    """Returns the Chinese name of a favourite, the first Chinese alias of a concept, or the key when there is none."""
    if (favourite := _FAVOURITES.get(key.removeprefix("favourite_"))) and key.startswith("favourite_"):
        return f"最喜歡的{favourite}"
    known = concept(key)
    names = known.aliases if known is not None else ()
    return next((name for name in names if not name.isascii()), key)
