-- name: visible
-- The cards c that may answer: the filter of a recall, the same for every channel. `conditions` are those of the
-- statements below whose parameter is given. A generic plan would evaluate the others for every card, too.
{owner_filter}{conditions}

-- name: visible_now
-- Without `known_at`. A card that is retracted or contested now may not have been at `known_at`; the fold of the past
-- decides.
AND NOT c.contested AND NOT c.retracted

-- name: visible_known_at
-- A later statement about an earlier time may begin the card now. The fold of the past decides.
AND (c.created_at <= %(known_at)s OR c.mentions > 1)

-- name: visible_projects
AND coalesce(c.project_id = ANY (%(projects)s), true)

-- name: visible_modes
-- `modes` are the names that cards of these modes may have: a name, or a project, U+001F and a name. `named` are the
-- declared names, given when cards with any other name belong to these modes, too. A reference is outside modes.
AND (coalesce(ARRAY[coalesce(c.mode,'general'),c.project_id||E'\x1f'||c.mode]&&%(modes)s,true)
     OR c.mode<>ALL(%(named)s) OR c.kind='reference')

-- name: visible_has
-- The metadata asked for.
AND c.metadata::jsonb @> %(has)s

-- name: visible_layers
AND c.context_layer = ANY (%(layers)s::text[])

-- name: visible_valid_until
AND (c.kind <> 'state' OR coalesce(c.effective_at <= %(valid_until)s, true))

-- name: visible_valid_from
AND (c.kind <> 'state' OR coalesce(c.superseded_at > %(valid_from)s, true))

-- name: visible_until
-- A plan may answer from when it was said, whatever its time. An event that a later event replaced is found, so that
-- the later event can take its place.
AND (coalesce(c.occurred_at, c.effective_at) <= %(until)s OR c.stated_status <> 'happened' AND c.said_at <= %(until)s)

-- name: visible_spaces
-- The embedders of the live vectors are still those whose vectors the question has.
AND %(spaces)s = (SELECT string_agg(slot || ' ' || fingerprint, ' ' ORDER BY slot COLLATE "C") FROM vectors.spaces)

-- name: owner_filter
c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[])

-- name: of_user
-- A key is hashed together with its user, so it finds another user's card only after a rare hash collision. IS TRUE
-- keeps the planner from using this condition as a second index lookup. That lookup would read all cards of the user
-- (8 ms of 10 with 80,000 cards).
(c.user_id = %(user_id)s) IS TRUE

-- name: owner_filter_by_key
-- Without IS TRUE the planner would look up all cards of a kind (6 ms of 7 while the GIN index has a pending list).
{of_user} AND (c.kind = ANY (%(kinds)s::text[])) IS TRUE

-- name: up_to_common
-- The user's cards of the key a.key, unless it is known to be common. Reading stops where a key is common, so the cost does
-- not depend on the number of cards.
{of_user} AND a.key <> ALL (%(known_common)s::integer[]) LIMIT %(common)s

-- name: selective_terms
-- The words of the question, which of them no card holds, and which are common. Counting stops where a word is common, so
-- the cost does not depend on the number of cards. A word that is known to be common is not counted again.
SELECT key, weight, held = 0 AS absent, held >= %(common)s AS common
FROM (
    SELECT key, weight, CASE WHEN key = ANY (%(known_common)s::integer[]) THEN %(common)s ELSE (
               SELECT count(*) FROM (
                   SELECT FROM cards.cards c
                   WHERE c.term_keys @> ARRAY[key] AND {of_user}
                   LIMIT %(common)s
               ) u
           ) END AS held
    FROM unnest(%(keys)s::integer[], %(weights)s::float8[]) AS every(key, weight)
    OFFSET 0 -- counts once, and not once for each column that uses the number
) n

-- name: fuzzy
-- The user's words nearest to each word of the question, by the share of their common trigrams, and the question's
-- pairs of characters. As in `tags`, `holder` has each card of each word and pair that is not common, and a common one
-- finds no card and counts in the score.
WITH asked AS (
    SELECT ordinal, word, probes::integer[] AS probes
    FROM unnest(%(words)s::text[], %(word_probes)s::text[]) WITH ORDINALITY AS a(word, probes, ordinal)
), near AS MATERIALIZED (
    SELECT asked.ordinal, n.term_key, n.similarity
    FROM asked CROSS JOIN LATERAL (
        SELECT w.term_key, similarity(w.word, asked.word)::float8 AS similarity
        FROM cards.words w
        WHERE w.gram_keys && asked.probes AND (w.user_id = %(user_id)s) IS TRUE
        ORDER BY similarity DESC, w.word
        LIMIT 5
    ) n
    WHERE n.similarity >= %(least_word)s
), holder AS MATERIALIZED (
    SELECT true AS of_word, a.key, c.*
    FROM (SELECT DISTINCT term_key AS key FROM near) a LEFT JOIN LATERAL (
        SELECT c.card_id, c.provenance, {visible_by_key} AS visible
        FROM cards.cards c
        WHERE c.term_keys @> ARRAY[a.key] AND {up_to_common}
    ) c ON true
    UNION ALL
    SELECT false, a.key, c.*
    FROM unnest(%(pairs)s::integer[]) AS a(key) LEFT JOIN LATERAL (
        SELECT c.card_id, c.provenance, {visible_by_key} AS visible
        FROM cards.cards c
        WHERE c.pair_keys @> ARRAY[a.key] AND {up_to_common}
    ) c ON true
), part AS MATERIALIZED (
    SELECT of_word, key, count(card_id) >= %(common)s OR key = ANY (%(known_common)s::integer[]) AS common
    FROM holder GROUP BY of_word, key
), selective AS NOT MATERIALIZED (
    SELECT of_word, key, card_id, provenance FROM holder JOIN part USING (of_word, key) WHERE visible AND NOT common
), hit AS MATERIALIZED (
    SELECT card_id FROM selective WHERE EXISTS (SELECT FROM part WHERE common)
    GROUP BY card_id ORDER BY count(*) DESC, card_id LIMIT %(looked_at)s
), held AS (
    SELECT of_word, key, card_id, provenance FROM selective
    UNION ALL
    SELECT of_word, key, c.card_id, c.provenance
    FROM hit CROSS JOIN LATERAL (
        -- The limit keeps the planner on the look-up of each card, also before the first statistics of the tables.
        SELECT c.card_id, c.provenance, c.term_keys, c.pair_keys FROM cards.cards c
        WHERE c.user_id = %(user_id)s AND c.card_id = hit.card_id LIMIT 1
    ) c JOIN part ON common AND key = ANY (CASE WHEN of_word THEN c.term_keys ELSE c.pair_keys END)
), score AS (
    -- The nearest word of each card to each word of the question.
    SELECT card_id, provenance, sum(similarity) / (SELECT greatest(count(*), 1) FROM asked) AS words, 0 AS pairs
    FROM (
        SELECT card_id, provenance, ordinal, max(similarity) AS similarity
        FROM held JOIN near ON near.term_key = held.key AND of_word
        GROUP BY card_id, provenance, ordinal
    ) best GROUP BY card_id, provenance
    UNION ALL
    SELECT card_id, provenance, 0, count(*)::float8 / cardinality(%(pairs)s::integer[])
    FROM held WHERE NOT of_word GROUP BY card_id, provenance
)
SELECT card_id, (CASE provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END
                 * greatest(max(words), max(pairs)))::real AS score
FROM score
GROUP BY card_id, provenance
HAVING max(words) > 0 OR max(pairs) >= %(least_pairs)s
ORDER BY score DESC, card_id
LIMIT %(limit)s;

-- name: graph
-- One hop from the seeds: along relations, to states of the same entity or concept, and to the neighbouring turns.
-- A link counts its own strength times the strength of its seed, and the best link of a card counts. `seed` is the seed
-- beside which a card stands, and NULL for a card that is related. Seeds may be found, too: two good hits side by side support each other.
WITH seed AS MATERIALIZED (
    SELECT s.strength, c.card_id, c.project_id, c.session_id, c.position, c.entity, c.concept_key
    FROM unnest(%(seeds)s::uuid[], %(strengths)s::float8[]) AS s(card_id, strength) CROSS JOIN LATERAL (
        SELECT c.card_id, c.project_id, c.session_id, c.position, c.entity, c.concept_key FROM cards.cards c
        WHERE c.user_id = %(user_id)s AND c.kind = ANY (ARRAY['state', 'event', 'knowledge']) AND c.card_id = s.card_id
        LIMIT 1
    ) c
), link AS MATERIALIZED (
    SELECT seed.strength * r.confidence AS strength, r.to_card AS card_id, NULL::uuid AS seed
    FROM seed JOIN cards.relations r ON r.user_id = %(user_id)s AND r.from_card = seed.card_id AND NOT r.refused
    UNION ALL
    SELECT seed.strength * r.confidence, r.from_card, NULL
    FROM seed JOIN cards.relations r ON r.user_id = %(user_id)s AND r.to_card = seed.card_id AND NOT r.refused
    UNION ALL
    SELECT seed.strength * %(entity)s::float8, same.card_id, NULL
    FROM seed CROSS JOIN LATERAL (
        SELECT c.card_id FROM cards.cards c
        WHERE c.user_id = %(user_id)s AND c.kind = 'state' AND c.project_id = seed.project_id AND c.entity = seed.entity
          AND c.superseded_at IS NULL AND c.card_id <> seed.card_id
        ORDER BY c.effective_at DESC, c.card_id LIMIT 10
    ) same
    WHERE seed.entity <> %(owner)s
    UNION ALL
    SELECT seed.strength * %(concept)s::float8, same.card_id, NULL
    FROM seed CROSS JOIN LATERAL (
        SELECT c.card_id FROM cards.cards c
        WHERE c.user_id = %(user_id)s AND c.kind = 'state' AND c.project_id = seed.project_id AND c.entity = seed.entity
          AND c.concept_key = seed.concept_key AND c.card_id <> seed.card_id
        ORDER BY c.effective_at DESC, c.card_id LIMIT 10
    ) same
    UNION ALL
    SELECT seed.strength / near.turns, near.card_id, seed.card_id
    FROM seed CROSS JOIN LATERAL (
        (SELECT c.card_id, row_number() OVER (ORDER BY c.position) AS turns FROM cards.cards c
         WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.session_id = seed.session_id
           AND c.position > seed.position AND c.episode
         ORDER BY c.position LIMIT 2)
        UNION ALL
        (SELECT c.card_id, row_number() OVER (ORDER BY c.position DESC) FROM cards.cards c
         WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.session_id = seed.session_id
           AND c.position < seed.position AND c.episode
         ORDER BY c.position DESC LIMIT 2)
    ) near
)
SELECT card_id, score, seed
FROM (
    SELECT DISTINCT ON (link.card_id) link.card_id, link.strength::float8 AS score, link.seed
    FROM link CROSS JOIN LATERAL (
        -- The limit keeps a generic plan on the look-up of each card. A join would read all cards of the user.
        SELECT FROM cards.cards c WHERE c.card_id = link.card_id AND {visible} LIMIT 1
    ) visible
    ORDER BY link.card_id, link.strength DESC, link.seed NULLS FIRST
) best
ORDER BY score DESC, card_id
LIMIT %(limit)s;

-- name: overview
-- The most important current states and references of a user, of each context layer and kind, and the latest events and
-- concepts, most important first. `retrieval.recall.overview.py` orders them.
WITH recent AS (
    (SELECT c.card_id FROM cards.cards c
     WHERE c.kind = 'event' AND {visible} ORDER BY c.occurred_at DESC LIMIT %(looked_at)s)
    UNION ALL
    (SELECT c.card_id FROM cards.cards c
     WHERE c.kind = 'knowledge' AND {visible} ORDER BY c.last_verified DESC LIMIT %(looked_at)s)
    UNION ALL
    (SELECT c.card_id FROM cards.cards c WHERE c.kind IN ('state', 'reference') AND NOT c.ended AND {visible})
), placed AS (
    SELECT c.card_id, row_number() OVER (
        PARTITION BY c.kind, c.context_layer
        ORDER BY (c.entity = %(owner)s) DESC NULLS LAST, (c.concept_key = ANY (%(registered)s)) DESC NULLS LAST,
                 (c.cardinality = 'single_value') DESC NULLS LAST, c.importance DESC NULLS LAST, c.mentions DESC,
                 c.last_verified DESC, c.card_id) AS place
    FROM cards.cards c
    WHERE c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id IN (SELECT card_id FROM recent)
)
SELECT card_id FROM placed WHERE place <= %(limit)s ORDER BY place, card_id;

-- name: nearness
-- The score of a card, and its place, the latest first, among the equally near cards that say the same. Few of these are
-- found: the words that a user repeats would otherwise be all the nearest cards.
(1 - near.distance) * CASE c.provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END AS score,
row_number() OVER (PARTITION BY near.distance, c.kind, c.episode, c.speaker, c.provenance, c.effective_at, c.content
                   ORDER BY c.said_at DESC, c.card_id) AS repeated

-- name: said
-- The columns that `nearness` needs of the card c.
c.card_id, c.kind, c.episode, c.speaker, c.provenance, c.effective_at, c.content, c.said_at

-- name: semantic
-- An exact scan of the user's own vectors by cosine distance, so the score is the cosine. The sort holds only the
-- distances and not the vectors. Cards are looked up one by one, nearest first, until enough of them may answer.
-- LATERAL with LIMIT keeps the planner from joining all cards.
SELECT card_id, score
FROM (
    SELECT card_id, score
    FROM (
        SELECT c.card_id, near.distance, {nearness}
        FROM (
            SELECT v.card_id, v.embedding <=> %(vector)s::vector AS distance
            FROM {vectors} v
            WHERE v.user_id = %(user_id)s AND v.model = %(model)s
            ORDER BY distance, v.card_id
            OFFSET 0
        ) near
        CROSS JOIN LATERAL (SELECT {said} FROM cards.cards c WHERE c.card_id = near.card_id AND {visible} LIMIT 1) c
    ) found
    WHERE repeated <= %(repeats)s
    ORDER BY distance, card_id
    LIMIT %(looked_up)s
) visible
ORDER BY score DESC, card_id
LIMIT %(limit)s;

-- name: semantic_mode
-- For a mode that few cards of a user with many vectors have: all cards of the mode, compared exactly.
SELECT card_id, score
FROM (
    SELECT c.card_id, {nearness}
    FROM cards.cards c
    CROSS JOIN LATERAL (
        SELECT v.embedding <=> %(vector)s::vector AS distance FROM {vectors} v
        WHERE v.user_id = %(user_id)s AND v.card_id = c.card_id AND v.model = %(model)s
    ) near
    WHERE c.mode = ANY (%(named)s::text[]) AND {visible}
) found
WHERE repeated <= %(repeats)s
ORDER BY score DESC, card_id
LIMIT %(limit)s;

-- name: semantic_near
-- For a user who owns a large share of very many vectors. The statement walks the index of all signs, nearest first by
-- Hamming distance, until it has enough of this user's cards that may answer. It orders these cards by exact cosine.
SELECT card_id, score
FROM (
    SELECT c.card_id, {nearness}
    FROM (
        SELECT v.embedding, c.*
        FROM {vectors} v
        CROSS JOIN LATERAL (SELECT {said} FROM cards.cards c WHERE c.card_id = v.card_id AND {visible} LIMIT 1) c
        -- IS TRUE keeps a generic plan, which does not know the user's share, from reading all vectors of the user.
        WHERE (v.user_id = %(user_id)s AND v.model = %(model)s) IS TRUE
        ORDER BY v.signs <~> (SELECT binary_quantize(%(vector)s::vector)::bit({dimension}))
        LIMIT %(looked_at)s
    ) c
    CROSS JOIN LATERAL (SELECT c.embedding <=> %(vector)s::vector AS distance) near
) found
WHERE repeated <= %(repeats)s
ORDER BY score DESC, card_id
LIMIT %(limit)s;

-- name: semantic_own
-- For a user with many vectors. The statement reads all signs of the user from a covering index. It orders the nearest
-- by Hamming distance by their exact cosine. Cards are looked up nearest first, until enough of them may answer.
SELECT card_id, score
FROM (
    SELECT card_id, score
    FROM (
        SELECT c.card_id, near.distance, {nearness}
        FROM (
            SELECT nearest.card_id, v.embedding <=> %(vector)s::vector AS distance
            FROM (
                SELECT own.card_id
                FROM {vectors} own
                WHERE own.user_id = %(user_id)s AND own.model = %(model)s
                ORDER BY (own.signs <~> (SELECT binary_quantize(%(vector)s::vector)::bit({dimension}))) + 0.0, own.card_id
                LIMIT %(looked_at)s
            ) nearest
            JOIN {vectors} v ON v.user_id = %(user_id)s AND v.card_id = nearest.card_id
            ORDER BY distance, nearest.card_id
            OFFSET 0
        ) near
        CROSS JOIN LATERAL (SELECT {said} FROM cards.cards c WHERE c.card_id = near.card_id AND {visible} LIMIT 1) c
    ) found
    WHERE repeated <= %(repeats)s
    ORDER BY distance, card_id
    LIMIT %(looked_up)s
) visible
ORDER BY score DESC, card_id
LIMIT %(limit)s;

-- name: tags
-- BM25 over every card that holds a word of the question which is not common, and the words that no card holds. The
-- document frequency of such a word is the number of its hits. That of a common word, which finds no card here, is
-- estimated from the share of the best hits that hold it. `holder` has each card of each word that is not common, so only
-- common words are looked for among the terms of the best hits. Without a word that is not common: no row.
WITH holder AS MATERIALIZED (
    SELECT a.key, a.weight, c.*
    FROM unnest(%(keys)s::integer[], %(weights)s::float8[]) AS a(key, weight)
    LEFT JOIN LATERAL (
        SELECT c.card_id, c.provenance, c.term_keys, c.own_terms, {visible_by_key} AS visible
        FROM cards.cards c
        WHERE c.term_keys @> ARRAY[a.key] AND {up_to_common}
    ) c ON true
), asked AS MATERIALIZED (
    SELECT key, max(weight) AS weight, count(*) FILTER (WHERE visible)::float8 AS hits, count(card_id) = 0 AS absent,
           count(card_id) >= %(common)s OR key = ANY (%(known_common)s::integer[]) AS common
    FROM holder GROUP BY key
), selective AS NOT MATERIALIZED (
    SELECT a.key, a.weight, a.hits, c.card_id, c.provenance, {use}
    FROM holder c JOIN asked a USING (key) WHERE c.visible AND NOT a.common
), hit AS MATERIALIZED (
    SELECT card_id FROM selective WHERE EXISTS (SELECT FROM asked WHERE common)
    GROUP BY card_id ORDER BY sum(weight / hits) DESC, card_id LIMIT %(looked_at)s
), {total}, uses AS (
    SELECT * FROM selective
    UNION ALL
    SELECT key, weight, greatest(%(common)s, (SELECT cards FROM total) * hits / (SELECT count(*) FROM hit)),
           card_id, provenance, times, length
    FROM (
        SELECT a.key, a.weight, count(*) OVER (PARTITION BY a.key) AS hits, c.card_id, c.provenance, {use}
        FROM (SELECT DISTINCT ON (card_id) * FROM holder JOIN hit USING (card_id)) c
        JOIN asked a ON a.common AND a.key = ANY (c.term_keys)
    ) held
)
{bm25}

-- name: common_tags
-- As `tags`, when every word of the question that a card holds is common. A card must then hold two of them, because
-- most of a long memory holds one of them. When no card holds two of them, each word finds cards. In that case, and for
-- a single word, only the latest of those cards are ranked: a common word tells little more than that.
WITH asked AS MATERIALIZED (
    {selective_terms}
), duo AS (
    SELECT DISTINCT ON (card_id) c.*
    FROM asked a JOIN asked b ON a.key < b.key AND a.common AND b.common CROSS JOIN LATERAL (
        SELECT c.card_id, c.term_keys, c.own_terms, c.provenance FROM cards.cards c
        WHERE c.term_keys @> ARRAY[a.key, b.key] AND {visible_by_key}
    ) c
), hit AS MATERIALIZED (
    SELECT * FROM duo
    UNION ALL
    (SELECT c.card_id, c.term_keys, c.own_terms, c.provenance FROM cards.cards c
     WHERE c.term_keys && (SELECT array_agg(key) FROM asked WHERE common) AND NOT EXISTS (SELECT FROM duo)
       AND {visible_by_key}
     ORDER BY coalesce(c.occurred_at, c.effective_at) DESC, c.card_id
     LIMIT %(ranked)s)
), {total}, uses AS (
    SELECT key, weight,
           CASE WHEN EXISTS (SELECT FROM duo)
                THEN greatest(%(common)s, (SELECT cards FROM total) * hits / (SELECT count(*) FROM hit)) ELSE hits END AS hits,
           card_id, provenance, times, length
    FROM (
        SELECT a.key, a.weight, count(*) OVER (PARTITION BY a.key)::float8 AS hits, c.card_id, c.provenance, {use}
        FROM hit c JOIN asked a ON a.common AND a.key = ANY (c.term_keys)
    ) held
)
{bm25}

-- name: total
total AS MATERIALIZED (
    SELECT cards::float8, terms::float8 / nullif(cards, 0) AS length FROM cards.card_counts WHERE user_id = %(user_id)s
)

-- name: use
-- How often the card c holds the word a.key, and its length. A word of the turns before counts `before`. The own terms of
-- most cards are all of its terms: to cut an array takes longer than to search it.
CASE WHEN c.own_terms = cardinality(c.term_keys) THEN cardinality(array_positions(c.term_keys, a.key))
     ELSE cardinality(array_positions(c.term_keys[:c.own_terms], a.key))
          + %(before)s * cardinality(array_positions(c.term_keys[c.own_terms + 1:], a.key)) END AS times,
c.own_terms + %(before)s * (cardinality(c.term_keys) - c.own_terms) AS length

-- name: bm25
-- In single precision, cards that hold the same words tie, in whatever order the uses are added.
SELECT card_id,
       sum(CASE provenance WHEN 'assistant_stated' THEN %(assistant)s ELSE 1 END
           * weight * ln(1 + (greatest(coalesce((SELECT cards FROM total), 0) - hits, 0) + 0.5) / (hits + 0.5))
           * times * (%(k1)s + 1)
           / (times + %(k1)s * (1 - %(b)s + %(b)s * uses.length / coalesce((SELECT total.length FROM total), 1))))::real AS score,
       ARRAY(SELECT key FROM asked WHERE absent) AS absent
FROM uses
GROUP BY card_id
ORDER BY score DESC, card_id
LIMIT %(limit)s;

-- name: time
-- The score is the number of the question's words that a card shares, and then its importance. A state that only
-- continues through the window (an old address) does not answer "what did I do then", so a state counts by its start.
-- In a long window the statement reads all cards that share a word which is not common, and the latest of the others.
WITH holder AS MATERIALIZED (
    SELECT a.key, c.*
    FROM unnest(%(keys)s::integer[]) AS a(key) LEFT JOIN LATERAL (
        SELECT c.card_id, c.importance, c.episode, c.provenance, c.occurred_until AS until,
               CASE c.kind WHEN 'event' THEN c.occurred_at ELSE c.effective_at END AS at, {visible_by_key} AS visible
        FROM cards.cards c
        WHERE c.term_keys @> ARRAY[a.key] AND {up_to_common}
    ) c ON true
), asked AS MATERIALIZED (
    SELECT key, count(card_id) >= %(common)s OR key = ANY (%(known_common)s::integer[]) AS common FROM holder GROUP BY key
), inside AS (
    (SELECT c.card_id, c.importance, c.episode, c.provenance, c.occurred_at AS at, 0 AS words
     FROM cards.cards c
     WHERE c.kind = 'event' AND {visible} AND c.occurred_at < %(to)s::timestamptz AND c.occurred_at >= %(from)s::timestamptz
     ORDER BY c.occurred_at DESC LIMIT %(looked_at)s)
    UNION ALL
    -- Events that began before the window and continued into it.
    (SELECT c.card_id, c.importance, c.episode, c.provenance, c.occurred_at, 0
     FROM cards.cards c
     WHERE c.kind = 'event' AND {visible} AND c.occurred_until > %(from)s::timestamptz AND c.occurred_at < %(from)s::timestamptz
     ORDER BY c.occurred_until LIMIT %(looked_at)s)
    UNION ALL
    (SELECT c.card_id, c.importance, c.episode, c.provenance, c.effective_at, 0
     FROM cards.cards c
     WHERE c.kind = 'state' AND {visible} AND c.effective_at < %(to)s::timestamptz AND c.effective_at >= %(from)s::timestamptz
     ORDER BY c.effective_at DESC LIMIT %(looked_at)s)
    UNION ALL
    SELECT card_id, importance, episode, provenance, at, 1
    FROM holder JOIN asked USING (key)
    WHERE visible AND NOT common AND at < %(to)s::timestamptz AND (at >= %(from)s::timestamptz OR until > %(from)s::timestamptz)
), card AS (
    SELECT card_id, coalesce(max(importance), 5) / 20.0 AS importance, max(provenance) AS provenance,
           CASE WHEN bool_or(episode) THEN 0 ELSE 0.25 END AS noted, max(at) AS at, sum(words) AS words
    FROM inside GROUP BY card_id
)
SELECT card_id,
       (CASE provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END
        * (words + common + importance + noted))::float8 AS score
FROM card CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (SELECT FROM asked WHERE asked.common) THEN (
        SELECT count(*) FROM cards.cards c JOIN asked ON asked.common AND asked.key = ANY (c.term_keys)
        WHERE c.user_id = %(user_id)s AND c.card_id = card.card_id
    ) ELSE 0 END AS common
) held
ORDER BY score DESC, at, card_id
LIMIT %(limit)s;

-- name: spaces
SELECT slot, name, fingerprint FROM vectors.spaces;

-- name: vectors_held
-- True when a user has vectors of an embedder, on cards of the modes asked for. It runs only while that embedder is missing.
SELECT EXISTS (
    SELECT FROM (
        SELECT card_id FROM vectors.card_vectors_384 WHERE user_id = %(user_id)s AND model = %(model)s
        UNION ALL SELECT card_id FROM vectors.card_vectors_768 WHERE user_id = %(user_id)s AND model = %(model)s
        UNION ALL SELECT card_id FROM vectors.card_vectors_1024 WHERE user_id = %(user_id)s AND model = %(model)s
    ) v
    WHERE EXISTS (
        SELECT FROM cards.cards c
        WHERE c.user_id = %(user_id)s AND c.card_id = v.card_id
          AND (coalesce(ARRAY[coalesce(c.mode,'general'),c.project_id||E'\x1f'||c.mode]&&%(modes)s::text[],true)
               OR c.mode<>ALL(%(named)s::text[]))
    )
);

-- name: later_turns
-- The latest turns that hold one of the words and were said after `after`, with these words. One of `keys` that very many
-- cards hold finds none, and neither does one of `rare_keys` that `rare` cards hold.
WITH asked AS MATERIALIZED (
    {selective_terms}
), named AS MATERIALIZED (
    SELECT key FROM asked WHERE NOT common
    UNION
    SELECT key FROM unnest(%(rare_keys)s::integer[]) key
    WHERE (SELECT count(*) FROM (
               SELECT FROM cards.cards c WHERE c.term_keys @> ARRAY[key] AND {of_user} LIMIT %(rare)s
           ) holder) < %(rare)s
)
SELECT c.card_id, ARRAY(SELECT key FROM named WHERE key = ANY (c.term_keys))
FROM cards.cards c
WHERE c.term_keys && (SELECT array_agg(key) FROM named) AND {visible_by_key}
  AND c.kind = 'event' AND c.episode AND c.said_at > %(after)s
ORDER BY c.said_at DESC, c.card_id
LIMIT %(limit)s;
