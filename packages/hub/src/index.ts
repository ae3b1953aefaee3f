export * from './bridge.ts';
export * from './hub.ts';
export * from './memory.ts';
export { openRedisHub, type RedisHubOptions } from './redis.ts';
export * from './terminal-commands.ts';
