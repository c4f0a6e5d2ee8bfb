-- Deletes the entries before an id, which every group has settled. Then it accounts for all entries that were ever added:
-- each is settled, erased, pending or waiting, else it is lost, because somebody deleted it from the stream.
-- XTRIM comes first: with full memory, Redis refuses a Lua script whose first write needs memory.
-- The count `_offset` is what the other counts lack: entries from before a roll-over or from before this accounting.
-- KEYS: stream, counts. ARGV: group, the first id that stays.
-- Returns the number of deleted entries and of newly lost entries. Redis before 7 does not count what was added.
local MOST_DELIVERED, MOST_BYTES = 1000, 64 * 1024 * 1024

-- Returns the value of a name in a flat list of names and values.
local function value_of(list, name)
    for place = 1, #list, 2 do
        if list[place] == name then
            return list[place + 1]
        end
    end
end

local deleted = redis.call('XTRIM', KEYS[1], 'MINID', ARGV[2])
local stream = redis.call('XINFO', 'STREAM', KEYS[1])
local added = value_of(stream, 'entries-added')
local group
for _, each in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
    if value_of(each, 'name') == ARGV[1] then
        group = each
    end
end
if not added or not group then
    return {deleted, 0}
end
local waiting, delivered = 0, value_of(group, 'last-delivered-id')
if delivered ~= value_of(stream, 'last-generated-id') then
    -- Millions of entries may wait, but delivered entries are trimmed soon. So the delivered ones are counted.
    local count, bytes, start = 0, 0, '-'
    while true do
        local entry = redis.call('XRANGE', KEYS[1], start, delivered, 'COUNT', 1)[1]
        if not entry then
            break
        end
        for _, word in ipairs(entry[2]) do
            bytes = bytes + #word
        end
        count, start = count + 1, '(' .. entry[1]
        if count > MOST_DELIVERED or bytes > MOST_BYTES then
            return {deleted, 0}
        end
    end
    waiting = value_of(stream, 'length') - count
end
local lost = added - waiting - value_of(group, 'pending')
for _, name in ipairs({'recorded', 'duplicates', 'dead', 'erased', 'lost'}) do
    lost = lost - (redis.call('HGET', KEYS[2], name) or 0)
end
local offset = redis.call('HGET', KEYS[2], '_offset')
if not offset then
    -- A stream that was never counted has lost what is missing. Counts of an earlier version are taken as complete.
    offset = redis.call('EXISTS', KEYS[2]) == 0 and 0 or 0 - lost
    redis.call('HSET', KEYS[2], '_offset', offset)
end
lost = lost + offset
if lost > 0 then
    redis.call('HINCRBY', KEYS[2], 'lost', lost)
elseif lost < 0 then
    -- The stream is another one than before.
    redis.call('HINCRBY', KEYS[2], '_offset', -lost)
    lost = 0
end
return {deleted, lost}
