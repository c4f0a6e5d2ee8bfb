-- Returns the next entries of a stream, each as (id, words, bytes), until there are enough entries or enough bytes. Of an
-- entry above the largest size it returns the user, the tenant and then the first bytes. A page therefore fits into
-- memory, whatever somebody pushed.
-- KEYS: stream. ARGV: most entries, most bytes, bytes of the largest entry, the start and the end of the page as XRANGE has
-- them. With a group and a consumer, the consumer receives the entries, and the start is the one of XREADGROUP.
local most, room, largest, start = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local VISIBLE, AFTER_ALL = {user_id = true, tenant = true}, '(18446744073709551615-18446744073709551615'

local function next_entry()
    if start == AFTER_ALL then
        return nil
    end
    if not ARGV[6] then
        return redis.call('XRANGE', KEYS[1], start, ARGV[5], 'COUNT', 1)[1]
    end
    local read = redis.call('XREADGROUP', 'GROUP', ARGV[6], ARGV[7], 'COUNT', 1, 'STREAMS', KEYS[1], start)
    return read and read[1][2][1]
end

local function first_bytes(words)
    local kept, rest = {}, largest
    for _, visible in ipairs({true, false}) do
        for place = 1, #words, 2 do
            local name = words[place]
            if (VISIBLE[name] or false) == visible and #name <= rest then
                local value = string.sub(words[place + 1], 1, rest - #name)
                kept[#kept + 1], kept[#kept + 2] = name, value
                rest = rest - #name - #value
            end
        end
    end
    return kept
end

local page = {}
while #page < most and room > 0 do
    local entry = next_entry()
    if not entry then
        break
    end
    local words, bytes = entry[2] or {}, 0
    for _, word in ipairs(words) do
        bytes = bytes + #word
    end
    if bytes > largest then
        words = first_bytes(words)
    end
    room = room - math.min(bytes, largest)
    page[#page + 1] = {entry[1], words, bytes}
    if not ARGV[6] then
        start = '(' .. entry[1]
    elseif start ~= '>' then
        start = entry[1]
    end
end
return page
