"""Tells where a turn may state facts about its speaker, and whether its speaker speaks of themselves at all."""

import re
from functools import cached_property

from events.language.forget_requests import requests_to_forget
from ingest.extraction import fiction
from ingest.extraction.prompt_injection import untrusted_spans
from ingest.extraction.rules.sentences import Sentence, simplified
from ingest.extraction.rules.words import either, pattern

# A request to suppose something, or to write: what follows is no fact of the speaker.
_FRAME = re.compile(
    r"\b(?:pretend(?:ing)?|imagine|suppose) ?(?:(?:to be|that|you|I|we|it)\b|$)|"
    r"\blet's (?:say|imagine)\b|(?:^|[.!?\n] ?|\b(?:please|you|must|should|will) )"
    r"(?:act|speak|write|reply|respond|answer) (?:as|like) (?:an?|my|the|if)\b|(?:^|[.!?:;\n] ?|\b(?:please|you|me) )"
    r"(?:write|draft|compose|create|generate|continue|tell me|here's|here is|this is)\b"
    r"[^.!?\n]{0,60}\b(?:stor(?:y|ies)|poems?|songs?|lyrics|dialogues?|novels?|fiction|characters?|letters?|e-?mails?|"
    r"messages?|texts?|samples?|essays?|drafts?)\b|"
    r"(?<!角色)扮演|假装|假设[你我]|想象[你我一]|第一人称|以.{1,12}的(?:口吻|身份|语气|视角)|"
    r"(?:写|编|讲|续写|创作|生成|给我|来)[一几个则篇首段][^。！？\n]{0,20}(?:故事|小说|诗|歌词|剧本|对话|笑话|日记|童话)",
    re.IGNORECASE,
)
# A letter, a mail, or a line that ends with a colon: what follows is pasted.
_PASTED = re.compile(
    r"^[ \t>\"“]*(?:Dear (?!diary)[^\n,:]{1,60}[,:]|(?:From|To|Subject|Date): [^\n]{1,200}\n|尊敬的[^\n]{1,30}[：:，,]|"
    r"亲爱的[^\n]{1,30}[：:，,])|^(?P<head>[^\n:：]{4,200})[:：][ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
# "Note: I moved" tells of the speaker. "Customer: I moved" and "Text: …" do not.
OWN_HEAD = re.compile(
    r"\W*(?:(?:I|[Ww]e)(?:'ve)? (?:changed|switched|moved|quit|left|got|have)|[Nn]o longer)\b[^:\n]{0,40}|"
    r"\W*(?:(?:big|quick|good|bad|great|a|my|small) )*(?:about me|me|sorry|correction|typo|note|update|fyi|btw|context|"
    r"background|hello|hi|hey|edit|ps|so|ok|okay|also|news|facts?|reminder|(?:please )?remember|today|actually|"
    r"guess what|allerg\w+|birthday)(?: (?:this|that|is|are|for you|from me|about me))*\W*|"
    r"\W*(?:更新|备注|补充|记录|记一下|记住|记得|另外|对了|背景|情况|说明|提醒|更正|日记|今天|好消息|坏消息)\W*",
    re.IGNORECASE,
)
# "The customer wrote: I'm allergic to nuts": the words after a colon are those of another, of a form or of a sample,
# unless the words before it only announce news of the speaker.
_COLON = re.compile(
    r":\s|：|:(?=[\u4e00-\u9fff])|(?<!\bI )(?<!\bwe )\b(?:says?|said|told (?:me|us)|wrote|texted), |"
    rf"(?:[他她A-Za-z]|{either('亲')}) ?(?:[跟对]我)?(?:说|告诉我)，"
)
_END = re.compile(r"[.!?。！？\n]")
# A clause that takes back its sentence, and what the mark before it ends: "just kidding", 騙你的.
_JOKE = pattern("factual_JOKE")


def factual_length(text: str, *, by_user: bool) -> int:
    """Returns the number of characters before a request to write or to suppose, and before what a user pastes."""
    plain = text if text.isascii() else simplified(text)
    found = _FRAME.search(plain)
    # A match may begin with the end of the sentence before.
    at = len(text) if found is None else found.start() + (found[0][:1] in ".!?\n")
    begin = max((end.end() for end in _END.finditer(text, 0, at)), default=0) if found is not None else at
    pastes = _PASTED.finditer(plain) if by_user else ()
    heads = (one for one in pastes if one["head"] is None or not OWN_HEAD.fullmatch(one["head"]))
    paste = next((one.start() if one["head"] is None else one.end() for one in heads), len(text))
    return min(begin, paste)


def dictated(sentence: Sentence, begin: int) -> bool:
    """Returns True when a colon or "she said," before ``begin`` introduces words of another, of a sample or a draft."""
    for colon in _COLON.finditer(sentence.plain, 0, begin + 2):
        if OWN_HEAD.fullmatch(sentence.plain, 0, colon.start()) is None:
            return True
    return False


class FactualText:
    """The text of a turn. Each search runs at the first question, because few turns have a draft.

    ``played`` says that the turn belongs to a role play that began before it.
    """

    def __init__(self, text: str, *, by_user: bool, played: bool = False) -> None:
        self._text = text
        self._by_user = by_user
        self._played = played

    def holds(self, begin: int, stop: int) -> bool:
        """Returns False for fiction, for words after a request to write, and for a sentence with orders to the reader.

        A request to forget is such an order. A joke is no fact either.
        """
        left_out = (*self.fiction, *self._orders, *self._jokes)
        return begin < self._length and not any(start < stop and begin < end for start, end in left_out)

    @cached_property
    def fiction(self) -> list[tuple[int, int]]:
        """The parts that are role play or fiction."""
        return fiction.spans(self._text, played=self._played)[0]

    @cached_property
    def _length(self) -> int:
        return factual_length(self._text, by_user=self._by_user)

    @cached_property
    def _orders(self) -> tuple[tuple[int, int], ...]:
        asked = [(request.begin, request.end) for request in requests_to_forget(self._text)]
        return (*untrusted_spans(self._text), *asked)

    @cached_property
    def _jokes(self) -> list[tuple[int, int]]:
        return [found.span() for found in _JOKE.finditer(simplified(self._text))]
