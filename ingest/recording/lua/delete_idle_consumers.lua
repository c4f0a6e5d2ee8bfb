-- Deletes the consumers of a group that have no pending entry and are idle for long. Returns the number deleted.
-- The check and the deletion are one atomic step. Otherwise a consumer could receive an entry in between, and the
-- deletion would lose that entry. KEYS: stream. ARGV: group, idle milliseconds.
local deleted = 0
for _, flat in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
    local consumer = {}
    for index = 1, #flat, 2 do
        consumer[flat[index]] = flat[index + 1]
    end
    if consumer.pending == 0 and consumer.idle >= tonumber(ARGV[2]) then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
        deleted = deleted + 1
    end
end
return deleted
