"""Says an event of a problem in one sentence, so that a recall finds it as a card."""

from events.language.chinese_script import has_cjk, to_simplified

_WORKED = {True: " It helped.", False: " It did not help.", None: ""}
_WORKED_ZH = {True: "，有幫助", False: "，沒有幫助", None: ""}


def opened(description: str) -> str:
    """Returns the words of a problem that begins or is back."""
    return _script(f"困擾：{description}", description) if has_cjk(description) else f"Problem: {description}"


def attempted(problem: str | None, approach: str, outcome: str | None, successful: bool | None) -> str:
    """Returns the words of an attempt: the approach, the problem, the outcome, and whether it helped."""
    said = f"{problem or ''}{approach}{outcome or ''}"
    if has_cjk(said):
        against = f"為了{problem}" if problem else ""
        result = f"：{outcome.rstrip('。.')}" if outcome else ""
        return _script(f"{against}試了{approach}{result}{_WORKED_ZH[successful]}", said)
    against = f" for {problem}" if problem else ""
    result = f": {outcome.rstrip('.')}." if outcome else "."
    return f"Tried {approach}{against}{result}{_WORKED[successful]}"


def closed(description: str, resolution: str | None) -> str:
    """Returns the words of a problem that is over."""
    if has_cjk(description):
        return _script(f"{description}：已經解決" + (f"，{resolution}" if resolution else ""), description)
    return f"No longer a problem: {description}." + (f" {resolution}" if resolution else "")


def _script(text: str, said: str) -> str:
    """Returns ``text`` in simplified script when ``said`` has a character that only simplified script has."""
    return to_simplified(text) if said == to_simplified(said) and to_simplified(said) != said else text
