/*
 * Scripts that Redis runs atomically, so that concurrent calls of instances do not interfere. Numbers beyond 2^31 are
 * passed as text, because numbers in responses would be truncated.
 */

/**
 * KEYS: statuses and the times that they are as of, hashes by vehicle. ARGV: the channel for new statuses, then for
 * each status its vehicle, time and JSON. Stores those that are newer than the known status, or as new and different,
 * and publishes them as one JSON array.
 */
export const UPDATE_LATEST = `
local news = {}
for i = 2, #ARGV, 3 do
  local known = redis.call('HGET', KEYS[2], ARGV[i])
  local isNew = not known or tonumber(known) < tonumber(ARGV[i + 1])
  if not isNew and tonumber(known) == tonumber(ARGV[i + 1]) then
    isNew = redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 2]
  end
  if isNew then
    redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2])
    news[#news + 1] = ARGV[i + 2]
  end
end
if #news > 0 then redis.call('PUBLISH', ARGV[1], '[' .. table.concat(news, ',') .. ']') end
return #news`;

/**
 * KEYS: connections, a hash by terminal, and the mark of a gateway. ARGV: the gateway, how long its mark is kept, then
 * for each change the terminal and its connection as JSON with the gateway in it; empty if it has disconnected. A
 * connection that another gateway has stored since is kept. Returns whether the mark existed.
 */
export const NOTE_CONNECTIONS = `
local wasKnown = redis.call('EXISTS', KEYS[2])
redis.call('SET', KEYS[2], 1, 'PX', ARGV[2])
for i = 3, #ARGV, 2 do
  if ARGV[i + 1] ~= '' then redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  else
    local noted = redis.call('HGET', KEYS[1], ARGV[i])
    if noted and cjson.decode(noted).gateway == ARGV[1] then redis.call('HDEL', KEYS[1], ARGV[i]) end
  end
end
return wasKnown`;

/**
 * KEYS: a counter. ARGV: length of the window and the present time, milliseconds. Counts a hit in a window that begins
 * with the first. Returns the hits and the window's end. A counter without hits expires.
 */
export const HIT = `
local resetsAt = redis.call('HGET', KEYS[1], 'resetsAt')
if not resetsAt or tonumber(resetsAt) <= tonumber(ARGV[2]) then
  resetsAt = string.format('%.0f', tonumber(ARGV[2]) + tonumber(ARGV[1]))
  redis.call('HSET', KEYS[1], 'hits', 0, 'resetsAt', resetsAt)
  redis.call('PEXPIRE', KEYS[1], 2 * ARGV[1])
end
return { redis.call('HINCRBY', KEYS[1], 'hits', 1), resetsAt }`;

/** KEYS: a counter. Removes one hit if there is one. */
export const FORGET_HIT = `
local hits = redis.call('HGET', KEYS[1], 'hits')
if hits and tonumber(hits) > 0 then redis.call('HINCRBY', KEYS[1], 'hits', -1) end
return 0`;

/**
 * KEYS: a block. ARGV: its end as Unix milliseconds, and how long to keep it. An earlier end than the known one changes
 * nothing.
 */
export const LENGTHEN_BLOCK = `
local known = redis.call('GET', KEYS[1])
if not known or tonumber(known) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return 0`;

/**
 * KEYS: terminals, a hash by id, and their order of last sighting. ARGV: the id, the terminal as JSON, the present
 * time, and the maximum number of terminals to keep.
 */
export const NOTE_SIGHTING = `
local seen = cjson.decode(ARGV[2])
local known = redis.call('HGET', KEYS[1], ARGV[1])
if known then known = cjson.decode(known) end
seen.firstSeenMs = known and known.firstSeenMs or tonumber(ARGV[3])
seen.lastSeenMs = tonumber(ARGV[3])
seen.attempts = (known and known.attempts or 0) + 1
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(seen))
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
local surplus = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[4])
if surplus > 0 then
  for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, surplus - 1)) do redis.call('HDEL', KEYS[1], id) end
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, surplus - 1)
end
return 0`;

/** KEYS: a lease. ARGV: the holder, and how long it is kept. Answers whether the holder has it. */
export const HOLD_LEASE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;

/** KEYS: a lease. ARGV: the holder that releases it. */
export const RELEASE_LEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;
