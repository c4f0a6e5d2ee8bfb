-- Moves turns from the list of the restricted pushers to the end of the stream, in their order. Each becomes an entry with
-- the JSON text of the turn, and with the user that the overlay looks for. Returns the number of moved turns.
-- LPOP comes first: with full memory, Redis refuses a Lua script whose first write needs memory.
-- KEYS: list, stream. ARGV: most turns, most bytes.
local LARGEST = 1024 * 1024 -- Longer text is no turn, and its user is not looked for.
local taken, room = 0, tonumber(ARGV[2])
while taken < tonumber(ARGV[1]) and room > 0 do
    local turn = redis.call('LPOP', KEYS[1])
    if not turn then
        break
    end
    local entry = {'pushed', turn}
    local good, fields = #turn <= LARGEST and pcall(cjson.decode, turn)
    if good and type(fields) == 'table' and type(fields.user_id) == 'string' then
        entry = {'user_id', fields.user_id, 'pushed', turn}
    end
    local added = redis.pcall('XADD', KEYS[2], '*', unpack(entry))
    if type(added) == 'table' and added.err then
        redis.call('LPUSH', KEYS[1], turn)
        break
    end
    taken, room = taken + 1, room - #turn
end
return taken
