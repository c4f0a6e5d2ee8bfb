-- Returns the entries of one user from the oldest unacknowledged entry on, the newest first. Earlier entries are in the
-- log. The script looks at a bounded number of entries, so the queue depth of other users costs little. The first value
-- is 1 when the script stopped early, otherwise 0.
-- KEYS: stream. ARGV: group, user, most entries looked at, most entries returned, most bytes returned, tenant. An entry
-- that names no tenant is of the tenant "default".
local depth, most, room = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local groups = redis.pcall('XINFO', 'GROUPS', KEYS[1])
if groups.err then
    return {0, {}}
end
local from = '-'
for _, group in ipairs(groups) do
    local info = {}
    for index = 1, #group, 2 do
        info[group[index]] = group[index + 1]
    end
    if info['name'] == ARGV[1] then
        from = '(' .. info['last-delivered-id']
        if info['pending'] > 0 then
            from = redis.call('XPENDING', KEYS[1], ARGV[1])[2]
        end
    end
end
local found, looked, newest = {}, 0, '+'
while true do
    local page = redis.call('XREVRANGE', KEYS[1], newest, from, 'COUNT', 100)
    for _, entry in ipairs(page) do
        if looked == depth or #found == most or room <= 0 then
            return {1, found}
        end
        looked = looked + 1
        local fields = entry[2]
        local user, tenant = nil, 'default'
        for index = 1, #fields, 2 do
            if fields[index] == 'user_id' then
                user = fields[index + 1]
            elseif fields[index] == 'tenant' then
                tenant = fields[index + 1]
            end
        end
        if user == ARGV[2] and tenant == ARGV[6] then
            found[#found + 1] = entry
            for word = 1, #fields do
                room = room - #fields[word]
            end
        end
    end
    if #page < 100 then
        return {0, found}
    end
    newest = '(' .. page[#page][1]
end
