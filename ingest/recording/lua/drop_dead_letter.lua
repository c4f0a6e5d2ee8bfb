-- Moves one dead letter to the stream of dropped letters, atomically. Returns false if the letter is gone.
-- KEYS: dead stream, dropped stream, counts. ARGV: letter id, entries kept, then the fields of the record.
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
    return false
end
redis.call('HINCRBY', KEYS[3], 'dropped', 1)
return redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[2], '*', unpack(ARGV, 3))
