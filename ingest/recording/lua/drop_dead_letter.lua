-- One dead letter out of the dead ones and onto the record of what was dropped: both or neither.
-- KEYS: dead stream, dropped stream, counts. ARGV: letter id, entries kept, then the fields of the record.
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
    return false
end
redis.call('HINCRBY', KEYS[3], 'dropped', 1)
return redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*', unpack(ARGV, 3))
