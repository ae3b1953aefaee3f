const WITHIN_MS = 5000;

/**
 * Queries the version, clock and eviction policy of a Redis server, and changes nothing.
 *
 * @returns its version, its clock in Unix milliseconds, and whether it evicts keys when its memory is used up
 * @throws {Error} when it can't be reached or refuses the credentials
 */
export async function probeRedis(url: string): Promise<{ version: string; clockMs: number; evicts: boolean }> {
  // Loaded here: an embedded service uses no server.
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: WITHIN_MS,
    commandTimeout: WITHIN_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | null = null;
  redis.on('error', (error: Error) => {
    reason ??= error;
  });
  try {
    await redis.connect();
    const info = await redis.info();
    const [seconds, microseconds] = await redis.time();
    const field = (name: string) => new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1];
    return {
      version: field('redis_version') ?? 'unknown',
      clockMs: Number(seconds) * 1000 + Number(microseconds) / 1000,
      evicts: field('maxmemory') !== '0' && field('maxmemory_policy') !== 'noeviction',
    };
  } catch (error) {
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}
