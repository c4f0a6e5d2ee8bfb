-- Pushes several turns onto one stream. A cluster uses this Lua script in place of a transaction.
-- KEYS: stream. ARGV: for each turn, the number of its names and values, then the names and values.
-- Returns the ids of the entries in order. A refused entry has its error in place of its id. The entries before it
-- stay in the stream, because a Lua script does not roll back.
local ids, at = {}, 1
while at <= #ARGV do
    local last = at + tonumber(ARGV[at])
    ids[#ids + 1] = redis.pcall('XADD', KEYS[1], '*', unpack(ARGV, at + 1, last))
    at = last + 1
end
return ids
