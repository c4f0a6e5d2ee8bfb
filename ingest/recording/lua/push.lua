-- Several turns onto one stream: all of them or none, where a transaction cannot be had. KEYS: stream. ARGV: for each
-- turn, how many words its fields and values are, then those. Gives the ids of the entries.
local ids, at = {}, 1
while at <= #ARGV do
    local last = at + tonumber(ARGV[at])
    ids[#ids + 1] = redis.call('XADD', KEYS[1], '*', unpack(ARGV, at + 1, last))
    at = last + 1
end
return ids
