"""The tokens of a unigram model are those of the package ``tokenizers``, whatever the text."""

import json

from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer
from tokenizers.models import Unigram, WordLevel
from tokenizers.normalizers import NFKC
from tokenizers.pre_tokenizers import Metaspace
from tokenizers.processors import TemplateProcessing

from projectors.embedding.unigram import UnigramTokenizer, is_unigram
from tests.support.tables import examples_and

_LETTERS = "ab台北▁"
_VOCABULARY = [("<s>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)] + [
    (token, -1.5 - number / 7)
    for number, token in enumerate(("▁", "a", "b", "台", "ab", "▁ab", "台北", "ba", "aba", "▁a"))
]
_LONGEST = 12


def _tokenizer() -> Tokenizer:
    made = Tokenizer(Unigram(_VOCABULARY, unk_id=2, byte_fallback=False))
    made.normalizer = NFKC()
    made.pre_tokenizer = Metaspace()
    made.add_special_tokens([AddedToken(token, normalized=False) for token in ("<s>", "</s>", "<unk>")])
    made.post_processor = TemplateProcessing("<s> $A </s>", None, [("<s>", 0), ("</s>", 1)])
    return made


_THEIRS = _tokenizer()
_OURS = UnigramTokenizer(json.loads(_THEIRS.to_str()), longest=_LONGEST)
_THEIRS.enable_truncation(_LONGEST)
_TEXTS = st.lists(
    st.sampled_from([*_LETTERS, " ", "\n", "ａ", "ǆ", "<s>", "<unk>", "＜s＞", "字", "\U0001f600"]),
    max_size=20,
).map("".join)


@given(_TEXTS)
@example("")
@example("字字a北b")
@example("ababab" * 3)
@example(" a<s>b ＜s＞")
def test_a_text_has_the_same_tokens(text: str) -> None:
    assert _OURS.encode(text) == _THEIRS.encode(text).ids


@examples_and(
    {"model": json.loads(Tokenizer(WordLevel({"a": 0}, "a")).to_str())["model"]},
)
def test_another_kind_of_tokenizer_is_left_to_the_package(change: dict[str, object]) -> None:
    document = json.loads(_tokenizer().to_str())
    assert is_unigram(document)
    assert not is_unigram({**document, **change})
