import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, type Server, startServer } from './server.ts';

/** Redis that writes down each change before it answers. */
export async function startRedis(folder: string, port?: number): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const at = port ?? (await freePort());
  const args = ['--port', String(at), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes'];
  const environment = { REDIS_URL: `redis://127.0.0.1:${at}/0` };
  return startServer('Redis', at, environment, {
    command: 'redis-server',
    args: [...args, '--appendfsync', 'always', '--save', ''],
    diaryPath: join(folder, 'redis.log'),
  });
}
