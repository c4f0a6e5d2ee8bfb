-- Takes `cost` from the token bucket KEYS[1], which gets `rate` a second and holds at most `burst`. Returns 0, or the
-- milliseconds until the bucket holds enough. The clock of Redis is the same for all services.
local rate, burst, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local kept = redis.call('HMGET', KEYS[1], 'left', 'at')
local at = tonumber(kept[2]) or now
local left = math.min(burst, (tonumber(kept[1]) or burst) + math.max(0, now - at) * rate / 1000)
cost = math.min(cost, burst)
local wait = 0
if left >= cost then
    left = left - cost
else
    wait = math.ceil((cost - left) * 1000 / rate)
end
redis.call('HSET', KEYS[1], 'left', tostring(left), 'at', tostring(now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst * 1000 / rate) + 1000)
return wait
