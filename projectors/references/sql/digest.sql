-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'objects' AS name, o::text AS content FROM objects o
    UNION ALL SELECT 'proposals', p::text FROM proposals p
    UNION ALL SELECT 'members', m::text FROM members m
    UNION ALL SELECT 'kinds', k::text FROM kinds k
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;
