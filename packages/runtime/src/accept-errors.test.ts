import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import { surviveAcceptErrors } from './accept-errors.ts';
import { createLogger } from './logger.ts';

const error = (code: string) => Object.assign(new Error(code), { code });

test('connections that can not be accepted are counted and logged once, and the server stays', async () => {
  const logger = createLogger('silent', 'json');
  const logged = vi.spyOn(logger, 'error').mockImplementation(() => {});
  const server = createServer();
  const counted = vi.fn();
  surviveAcceptErrors(server, logger, counted);
  server.emit('error', error('EADDRINUSE'));
  expect(counted).not.toHaveBeenCalled();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  for (let times = 0; times < 3; times++) server.emit('error', error('EMFILE'));
  expect(server.listening).toBe(true);
  expect(counted).toHaveBeenCalledTimes(3);
  expect(logged.mock.calls.map(([, message]) => message)).toEqual(['no file descriptor is free for a connection']);
  server.close();
});
