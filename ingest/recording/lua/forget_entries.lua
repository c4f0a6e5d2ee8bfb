-- Deletes entries from a stream and from every group that holds them. Returns the number of deleted entries.
-- KEYS: stream. ARGV: entry ids.
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
    local name
    for place = 1, #group, 2 do
        if group[place] == 'name' then
            name = group[place + 1]
        end
    end
    redis.call('XACK', KEYS[1], name, unpack(ARGV))
end
return redis.call('XDEL', KEYS[1], unpack(ARGV))
