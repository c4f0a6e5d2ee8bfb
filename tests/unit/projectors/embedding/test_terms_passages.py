"""The words that a card answers find the card too, with less weight."""

from collections.abc import Sequence

import numpy as np

from events.types.cards import Utterance
from projectors.embedding.embedder import HashEmbedder, Vectors
from projectors.embedding.passages import Passage, embed_passages, line_of

ASKS = Utterance("What did you adopt?", "Ann")
SAYS = Utterance("Two kittens, two!", "Bob")
NODS = Utterance("Lovely kittens", "Ann")


def test_only_two_turns_back_count() -> None:
    far = Passage(Utterance("Yes"), (NODS, SAYS, ASKS))
    assert np.array_equal(
        embed_passages(HashEmbedder().embed, [far]),
        embed_passages(HashEmbedder().embed, [Passage(Utterance("Yes"), (NODS, SAYS))]),
    )


def test_vector_is_the_line_and_in_part_the_lines_before() -> None:
    embedder = HashEmbedder()
    own, before = embedder.embed(["Bob said: Two kittens, two!", "Ann said: What did you adopt?"])
    (vector,) = embed_passages(embedder.embed, [Passage(SAYS, (ASKS,))])
    expected = own + 0.5 * before
    np.testing.assert_allclose(vector, expected / np.sqrt(expected @ expected), atol=1e-6)
    (alone,) = embed_passages(embedder.embed, [Passage(SAYS)])
    np.testing.assert_allclose(alone, own, atol=1e-6)


def test_each_line_is_embedded_once() -> None:
    calls: list[list[str]] = []
    embedder = HashEmbedder()

    def embed(texts: Sequence[str]) -> Vectors:
        calls.append(list(texts))
        return embedder.embed(texts)

    vectors = embed_passages(embed, [Passage(ASKS), Passage(SAYS, (ASKS,)), Passage(NODS, (SAYS, ASKS))])
    assert vectors.shape == (3, 384)
    assert [sorted(call) for call in calls] == [sorted(map(line_of, (ASKS, SAYS, NODS)))]


def test_words_against_each_other_still_have_a_vector() -> None:
    def opposite(texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), 4), dtype=np.float32)
        rows[:, 0] = [1.0 if text == "own" else -1.0 for text in texts]
        return rows

    said = Passage(Utterance("own"), (Utterance("one"), Utterance("two")))
    np.testing.assert_allclose(embed_passages(opposite, [said]), [[1, 0, 0, 0]], atol=1e-6)
