-- One dead letter back onto the stream, and out of the dead ones: both or neither, and never twice.
-- KEYS: dead stream, turns stream, counts. ARGV: letter id, then the fields of the turn.
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
    return false
end
redis.call('HINCRBY', KEYS[3], 'retried', 1)
return redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
