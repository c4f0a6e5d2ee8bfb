-- Returns the clock of the node that has the stream. KEYS: stream.
return redis.call('TIME')
