"""Fuzzy search: Latin words by trigrams against the user's own words, Chinese by character pairs."""

from psycopg import AsyncConnection

from events.language.ngrams import probe_keys
from projectors.cards.card_rows import pair_keys
from projectors.generations.copy_format import as_array
from retrieval.channels.channel import Channel, Hit, assistant_share, searched
from retrieval.query.question import Question
from retrieval.query.scope import Scope

_LIMIT = 20
# The least trigram similarity of two words that count as similar. Two swapped letters leave about a third.
_LEAST_WORD = 0.27
_LEAST_PAIRS = 0.25  # the least share of the question's character pairs that a card must hold


class FuzzyChannel(Channel):
    """Scores a card by its word similarity or by its share of the question's character pairs, whichever is greater."""

    name = "fuzzy"

    async def search(self, connection: AsyncConnection, question: Question, scope: Scope) -> list[Hit]:
        words = [term for term in question.terms if term.isascii() and len(term) >= 3]
        pairs = pair_keys(scope.user_id, "".join(question.terms))
        if not words and not pairs:
            return []
        return await searched(
            connection,
            "fuzzy",
            scope,
            {
                "assistant": assistant_share(question),
                "words": words,
                "word_probes": [as_array(probe_keys(scope.user_id, word, _LEAST_WORD)) for word in words],
                "pairs": pairs,
                "least_word": _LEAST_WORD,
                "least_pairs": _LEAST_PAIRS,
                "limit": _LIMIT,
            },
        )
