import type * as Redis from './redis.ts';

/**
 * See {@link Redis.openRedisHub}. The client is loaded at the first call: it takes megabytes, and an embedded hub does
 * not use it.
 */
export const openRedisHub: typeof Redis.openRedisHub = async (options) =>
  (await import('./redis.ts')).openRedisHub(options);
