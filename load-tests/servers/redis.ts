import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { type Security, type Server, startServer } from './server.ts';

/** Redis that writes down each change before it answers. */
export async function startRedis(folder: string, port?: number, security: Security | null = null): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const at = port ?? (await reservePort());
  const secureAt = await reservePort();
  const args = ['--port', String(at), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes'];
  return startServer(
    'Redis',
    at,
    { REDIS_URL: `redis://127.0.0.1:${at}/0` },
    {
      command: 'redis-server',
      args: [
        ...args,
        ...['--appendfsync', 'always', '--save', ''],
        ...(security === null ? [] : secureSettings(security, secureAt)),
      ],
      logPath: join(folder, 'redis.log'),
    },
    security && { REDIS_URL: `rediss://${security.user}:${security.password}@localhost:${secureAt}/0` },
  );
}

function secureSettings({ keyFile, certificateFile, user, password }: Security, port: number): string[] {
  return [
    ...['--tls-port', String(port), '--tls-key-file', keyFile, '--tls-cert-file', certificateFile],
    ...['--tls-ca-cert-file', certificateFile, '--tls-auth-clients', 'no'],
    ...['--user', user, 'on', `>${password}`, '~*', '&*', '+@all'],
  ];
}
