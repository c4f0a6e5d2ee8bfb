-- Recorded entries out of the group. Each counts once: a recorder that was so slow that another took its entries
-- over finds them gone, and counts nothing. Acknowledging comes first: in a full memory Redis refuses a script whose
-- first write takes room, and only settling makes room.
-- KEYS: stream, counts. ARGV: group, then for each entry its id and the count it belongs to.
local counts = {}
for index = 2, #ARGV, 2 do
    if redis.call('XACK', KEYS[1], ARGV[1], ARGV[index]) == 1 then
        local name = ARGV[index + 1]
        counts[name] = (counts[name] or 0) + 1
    end
end
for _, name in ipairs({'recorded', 'duplicates'}) do
    if counts[name] then
        redis.call('HINCRBY', KEYS[2], name, counts[name])
    end
end
