-- Acknowledges recorded entries. Each entry counts once: when another recorder took the entries over, XACK returns 0
-- and the slow recorder counts nothing. XACK comes first: with full memory, Redis refuses a Lua script whose first
-- write needs memory, and only settling makes room.
-- KEYS: stream, counts. ARGV: group, then for each entry its id and the name of its count.
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
