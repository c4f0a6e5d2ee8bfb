-- Several turns onto one stream, where a transaction cannot be had. KEYS: stream. ARGV: for each turn, how many words its
-- fields and values are, then those. Gives the ids of the entries, and the error in place of the id of one that the
-- stream did not take: entries before it are there, for a script undoes nothing.
local ids, at = {}, 1
while at <= #ARGV do
    local last = at + tonumber(ARGV[at])
    ids[#ids + 1] = redis.pcall('XADD', KEYS[1], '*', unpack(ARGV, at + 1, last))
    at = last + 1
end
return ids
