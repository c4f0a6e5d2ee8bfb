-- Returns the entries of one user from the oldest unacknowledged entry on, the newest first. Earlier entries are in the
-- log. The script looks at a bounded number of entries and bytes, so the queue of other users costs little. It reads few
-- entries at a time, because somebody may have pushed entries of many megabytes. The first value is 1 when the script
-- stopped early, otherwise 0.
-- KEYS: stream. ARGV: group, user, most entries looked at, most entries returned, most bytes returned, tenant. An entry
-- that names no tenant is of the tenant "default".
local PAGE, MOST_BYTES, LARGEST = 4, 16 * 1024 * 1024, 2 * 1024 * 1024
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
local found, looked, bytes, newest = {}, 0, 0, '+'
while true do
    local page = redis.call('XREVRANGE', KEYS[1], newest, from, 'COUNT', PAGE)
    for _, entry in ipairs(page) do
        if looked == depth or #found == most or room <= 0 or bytes > MOST_BYTES then
            return {1, found}
        end
        looked = looked + 1
        local fields = entry[2]
        local user, tenant, size = nil, 'default', 0
        for index = 1, #fields, 2 do
            size = size + #fields[index] + #fields[index + 1]
            if fields[index] == 'user_id' then
                user = fields[index + 1]
            elseif fields[index] == 'tenant' then
                tenant = fields[index + 1]
            end
        end
        bytes = bytes + size
        if user == ARGV[2] and tenant == ARGV[6] and size <= LARGEST then
            found[#found + 1] = entry
            room = room - size
        end
    end
    if #page < PAGE then
        return {0, found}
    end
    newest = '(' .. page[#page][1]
end
