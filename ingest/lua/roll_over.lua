-- A stream whose last id is too far ahead begins anew at the present, once every group has settled all that was in it.
-- No entry is lost, no group either, and no id of the new stream was one of the old: the first comes after this
-- millisecond. 1 where it did, 0 where there is no need, -1 where somebody still has to read or settle.
-- How often it did is counted, for ids that are too far ahead can come again then.
-- KEYS: stream, counts. ARGV: how far ahead an id may be, in milliseconds.
local function said(list, name)
    for place = 1, #list, 2 do
        if list[place] == name then
            return list[place + 1]
        end
    end
end

if redis.call('EXISTS', KEYS[1]) == 0 then
    return 0
end
local last = said(redis.call('XINFO', 'STREAM', KEYS[1]), 'last-generated-id')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if tonumber(string.match(last, '^%d+')) <= now + tonumber(ARGV[1]) then
    return 0
end
local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
if #groups == 0 then
    return -1
end
for _, group in ipairs(groups) do
    local delivered = said(group, 'last-delivered-id')
    -- Behind the last id there is nothing, and behind the largest there cannot be: Redis refuses to look there.
    local waits = delivered ~= last and #redis.call('XRANGE', KEYS[1], '(' .. delivered, '+', 'COUNT', 1) > 0
    if waits or said(group, 'pending') > 0 then
        return -1
    end
end
redis.call('DEL', KEYS[1])
for _, group in ipairs(groups) do
    redis.call('XGROUP', 'CREATE', KEYS[1], said(group, 'name'), '0', 'MKSTREAM')
end
redis.call('XSETID', KEYS[1], string.format('%.0f', now) .. '-18446744073709551615')
for _, group in ipairs(groups) do
    redis.call('XGROUP', 'SETID', KEYS[1], said(group, 'name'), '$')
end
redis.call('HINCRBY', KEYS[2], 'rolled_over', 1)
return 1
