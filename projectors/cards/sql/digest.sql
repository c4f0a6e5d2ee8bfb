-- The digest does not depend on the order of rows. It is two 64-bit sums over every column, as PostgreSQL writes a row.
WITH line AS (
    SELECT 'cards' AS name, t::text AS content FROM cards t
    UNION ALL SELECT 'statements', t::text FROM statements t
    UNION ALL SELECT 'remarks', t::text FROM remarks t
    UNION ALL SELECT 'arbitrations', t::text FROM arbitrations t
    UNION ALL SELECT 'card_update_log', t::text FROM card_update_log t
    UNION ALL SELECT 'tag_aliases', t::text FROM tag_aliases t
    UNION ALL SELECT 'relations', t::text FROM relations t
    UNION ALL SELECT 'card_counts', t::text FROM card_counts t
    UNION ALL SELECT 'words', t::text FROM words t
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;
