export * from './bridge.ts';
export * from './hub.ts';
export * from './memory.ts';
export { openRedisHub } from './open-redis.ts';
export { probeRedis } from './probe-redis.ts';
export type { RedisHubOptions } from './redis.ts';
export * from './terminal-commands.ts';
