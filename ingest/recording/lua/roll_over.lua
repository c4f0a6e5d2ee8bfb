-- Restarts a stream at the present when its last id is too far ahead and every group has settled all delivered entries.
-- Undelivered entries move to the restarted stream, in their order and under their names. No entry and no group is
-- lost. No id occurs in both streams, because the first new id comes after this millisecond. The script counts the
-- roll-overs, because ids that are too far ahead can then occur again.
-- Returns 1 after a roll-over, 0 when none is necessary, -1 when a group still has to read or to settle entries.
-- KEYS: stream, counts. ARGV: how far ahead an id may be in milliseconds, the mark that follows an id in a name.
local MOST_ENTRIES, MOST_WORDS, MOST_BYTES = 500, 4000, 16 * 1024 * 1024

-- Returns the value of a name in a flat list of names and values.
local function value_of(list, name)
    for place = 1, #list, 2 do
        if list[place] == name then
            return list[place + 1]
        end
    end
end

if redis.call('EXISTS', KEYS[1]) == 0 then
    return 0
end
local stream = redis.call('XINFO', 'STREAM', KEYS[1])
local last = value_of(stream, 'last-generated-id')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if tonumber(string.match(last, '^%d+')) <= now + tonumber(ARGV[1]) then
    return 0
end
-- Returns the entries after an id, or nothing where they are too many or too large for one step. No entry follows the last
-- id, and Redis refuses an XRANGE after the largest possible id.
local function entries_after(id)
    local found, bytes = {}, 0
    while id ~= last do
        local entry = redis.call('XRANGE', KEYS[1], '(' .. id, '+', 'COUNT', 1)[1]
        if not entry then
            break
        end
        for _, word in ipairs(entry[2]) do
            bytes = bytes + #word
        end
        found[#found + 1], id = entry, entry[1]
        if #found > MOST_ENTRIES or #entry[2] > MOST_WORDS or bytes > MOST_BYTES then
            return nil
        end
    end
    return found
end

local groups = redis.call('XINFO', 'GROUPS', KEYS[1])
if #groups == 0 then
    return -1
end
local waiting
for _, group in ipairs(groups) do
    if value_of(group, 'pending') > 0 then
        return -1
    end
    local rest = entries_after(value_of(group, 'last-delivered-id'))
    if not rest then
        return -1
    end
    local first = rest[1] and rest[1][1]
    if waiting and (#rest ~= #waiting or first ~= (waiting[1] and waiting[1][1])) then
        return -1
    end
    waiting = rest
end
-- The script checks everything that can fail before the first write, because a Lua script does not roll back.
local rolled_over = redis.call('HGET', KEYS[2], 'rolled_over')
for _, entry in ipairs(waiting) do
    local words = entry[2]
    local named = false
    for place = 1, #words, 2 do
        if words[place] == 'turn_id' and string.find(words[place + 1], '%S') then
            named = true
        end
    end
    if not named then
        words[#words + 1] = 'turn_id'
        words[#words + 1] = entry[1] .. ARGV[2] .. (rolled_over and '~' .. rolled_over or '')
    end
end
redis.call('DEL', KEYS[1])
for _, group in ipairs(groups) do
    redis.call('XGROUP', 'CREATE', KEYS[1], value_of(group, 'name'), '0', 'MKSTREAM')
end
redis.call('XSETID', KEYS[1], string.format('%.0f', now) .. '-18446744073709551615')
for _, group in ipairs(groups) do
    redis.call('XGROUP', 'SETID', KEYS[1], value_of(group, 'name'), '$')
end
for _, entry in ipairs(waiting) do
    redis.call('XADD', KEYS[1], '*', unpack(entry[2]))
end
redis.call('HINCRBY', KEYS[2], 'rolled_over', 1)
-- The new stream counts only the entries that moved (trim.lua). Redis before 7 counts none.
redis.call('HINCRBY', KEYS[2], '_offset', (value_of(stream, 'entries-added') or #waiting) - #waiting)
return 1
