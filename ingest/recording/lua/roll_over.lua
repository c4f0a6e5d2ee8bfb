-- A stream whose last id is too far ahead begins anew at the present, once every group has settled what it was given.
-- What nobody was given yet moves along, in its order and under the name it had. No entry is lost, no group either,
-- and no id of the new stream was one of the old: the first comes after this millisecond. How often it did is counted,
-- for ids that are too far ahead can come again then.
-- 1 where it began anew, 0 where there is no need, -1 where somebody still has to read or settle.
-- KEYS: stream, counts. ARGV: how far ahead an id may be in milliseconds, what follows an id in a name.
local MOST_ENTRIES, MOST_WORDS = 500, 4000

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
local waiting
for _, group in ipairs(groups) do
    if said(group, 'pending') > 0 then
        return -1
    end
    local delivered = said(group, 'last-delivered-id')
    local rest = {}
    -- Behind the last id there is nothing, and behind the largest there cannot be: Redis refuses to look there.
    if delivered ~= last then
        rest = redis.call('XRANGE', KEYS[1], '(' .. delivered, '+', 'COUNT', MOST_ENTRIES + 1)
    end
    local first = rest[1] and rest[1][1]
    if waiting and (#rest ~= #waiting or first ~= (waiting[1] and waiting[1][1])) then
        return -1
    end
    waiting = rest
end
if #waiting > MOST_ENTRIES then
    return -1
end
-- All that could fail is looked at before anything is changed: a script that fails half-way stays half done.
local life = redis.call('HGET', KEYS[2], 'rolled_over')
for _, entry in ipairs(waiting) do
    local words = entry[2]
    if #words > MOST_WORDS then
        return -1
    end
    local named = false
    for place = 1, #words, 2 do
        if words[place] == 'turn_id' and string.find(words[place + 1], '%S') then
            named = true
        end
    end
    if not named then
        words[#words + 1] = 'turn_id'
        words[#words + 1] = entry[1] .. ARGV[2] .. (life and '~' .. life or '')
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
for _, entry in ipairs(waiting) do
    redis.call('XADD', KEYS[1], '*', unpack(entry[2]))
end
redis.call('HINCRBY', KEYS[2], 'rolled_over', 1)
return 1
