-- Consumers that left nothing behind and were not heard of for long out of the group. Looking and removing are one step:
-- one that was given an entry in between would lose it. KEYS: stream. ARGV: group, idle milliseconds.
local gone = 0
for _, flat in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
    local consumer = {}
    for index = 1, #flat, 2 do
        consumer[flat[index]] = flat[index + 1]
    end
    if consumer.pending == 0 and consumer.idle >= tonumber(ARGV[2]) then
        redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
        gone = gone + 1
    end
end
return gone
