-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'documents' AS name, o::text AS content FROM documents o
    UNION ALL SELECT 'snapshots', s::text FROM snapshots s
    UNION ALL SELECT 'changes', c::text FROM changes c
    UNION ALL SELECT 'queue', q::text FROM queue q
    UNION ALL SELECT 'statements', s::text FROM card_statements s
    UNION ALL SELECT 'remarks', r::text FROM card_remarks r
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;
