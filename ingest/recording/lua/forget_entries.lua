-- Deletes entries from a stream and from every group that holds them. Counts those that were not settled as erased.
-- KEYS: stream, counts. ARGV: group of the recorder, then the entry ids.
local function value_of(list, name)
    for place = 1, #list, 2 do
        if list[place] == name then
            return list[place + 1]
        end
    end
end

-- Returns a text that sorts as the id does. Numbers of Lua are too small for ids.
local function sortable(id)
    local milliseconds, sequence = string.match(id, '^(%d+)-(%d+)$')
    return string.rep('0', 20 - #milliseconds) .. milliseconds .. string.rep('0', 20 - #sequence) .. sequence
end

local erased, delivered = 0, sortable('0-0')
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
    local name = value_of(group, 'name')
    local pending = redis.call('XACK', KEYS[1], name, unpack(ARGV, 2))
    if name == ARGV[1] then
        erased, delivered = pending, sortable(value_of(group, 'last-delivered-id'))
    end
end
for place = 2, #ARGV do
    if redis.call('XDEL', KEYS[1], ARGV[place]) == 1 and sortable(ARGV[place]) > delivered then
        erased = erased + 1
    end
end
redis.call('HINCRBY', KEYS[2], 'erased', erased)
