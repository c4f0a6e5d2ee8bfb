-- Creates the group at the first entry of the stream. XDEL deletes nothing and comes first: with full memory, Redis refuses
-- a Lua script whose first write needs memory, and nobody reads the stream, and so makes room, without a group.
-- KEYS: stream. ARGV: group.
redis.call('XDEL', KEYS[1], '0-0')
return redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
