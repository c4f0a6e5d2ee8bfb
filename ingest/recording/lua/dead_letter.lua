-- Moves a refused entry from the group to the dead stream, atomically and at most once. XACK comes first: with full
-- memory, Redis refuses a Lua script whose first write needs memory.
-- KEYS: stream, dead stream, counts. ARGV: group, entry id, then the fields of the dead letter.
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 1 then
    redis.call('XADD', KEYS[2], '*', unpack(ARGV, 3))
    redis.call('HINCRBY', KEYS[3], 'dead', 1)
end
