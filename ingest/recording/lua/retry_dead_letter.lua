-- Moves one dead letter back to the stream of turns, atomically and at most once. Returns false if the letter is gone.
-- KEYS: dead stream, turns stream, counts. ARGV: letter id, then the fields of the turn.
if redis.call('XDEL', KEYS[1], ARGV[1]) == 0 then
    return false
end
redis.call('HINCRBY', KEYS[3], 'retried', 1)
return redis.call('XADD', KEYS[2], '*', unpack(ARGV, 2))
