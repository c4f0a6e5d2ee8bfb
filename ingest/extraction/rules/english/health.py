"""Makes English states of medicines, and the end of a diet."""

from __future__ import annotations

import re

from events.language.values import word_set
from ingest.extraction.rules.english.people import states
from ingest.extraction.rules.scene import Make

# The stems of the international names of drugs by class (INN), and common medicines by their everyday names.
_STEM = re.compile(
    r"[a-z]{2,}(?:pril|sartan|olol|dipine|statin|formin|gliptin|gliflozin|glutide|gliptide|prazole|tidine|cillin|mycin|"
    r"floxacin|cycline|oxetine|traline|talopram|azepam|zolam|azine|lukast|tadine|rizine|thiazide|semide|parin|xaban|"
    r"gabalin|pentin|setron|triptan|thyroxine|terol|sone|nisolone|profen|olimus|mumab|zumab|tinib|vir)"
)
_MEDICINES = word_set(
    "aspirin ibuprofen paracetamol acetaminophen insulin melatonin lithium warfarin antidepressants antihistamines "
    "antibiotics statins painkillers steroids levothyroxine ritalin adderall ventolin xanax prozac zoloft tylenol "
    "advil probiotics magnesium zinc iron creatine omega-3"
)


def _medicine(words: str) -> str | None:
    """Returns the words when they name a medicine. Without a dose, other things are taken too: a bus, notes."""
    name = words.lower()
    known = name in _MEDICINES or _STEM.fullmatch(name) or re.fullmatch(r"vitamin [a-k]\d{0,2}", name)
    return words if known else None


def _said(words: str) -> str | None:
    return words or None


MAKES: dict[str, Make] = {
    "medication": states("medication", _medicine, timed=True),
    "medication_dosed": states("medication", _said, timed=True),
    "medication_ended": states("medication", _medicine, statement="ended", announced=True, timed=True),
    "diet_ended": states("diet", _said, statement="ended", announced=True, timed=True),
}
