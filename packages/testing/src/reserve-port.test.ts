import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { reservePort } from './reserve-port.ts';

test('a port is free, below those of outgoing connections, and given once', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, reservePort));
  expect(new Set(ports).size).toBe(ports.length);
  for (const port of ports) {
    expect(port).toBeLessThan(32_768);
    const server = createServer();
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    await new Promise((resolve) => server.close(resolve));
  }
});

test('another process gets another one', async () => {
  const port = await reservePort();
  expect(readFileSync(`/tmp/outrider-test-ports/${port}`, 'utf8')).toBe(String(process.pid));
  const module = new URL('./reserve-port.ts', import.meta.url).href;
  const script = `const { reservePort } = await import('${module}'); console.log(await reservePort());`;
  const other = Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
  expect(other).not.toBe(port);
  expect(existsSync(`/tmp/outrider-test-ports/${other}`)).toBe(true);
});
