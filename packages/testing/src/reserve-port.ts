import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { isRunning } from './is-running.ts';

/** Below the ports that the system gives to outgoing connections. */
const [FROM, TO] = [12_000, 30_000];
/** One file per port, with the id of the process that reserved it, shared by all test runs on this machine. */
const FOLDER = '/tmp/outrider-test-ports';

/**
 * Reserves a port for this process until it ends, even while the server on it is down. No other test gets the port, and
 * no outgoing connection uses it.
 */
export async function reservePort(): Promise<number> {
  mkdirSync(FOLDER, { recursive: true });
  for (;;) {
    const port = randomInt(FROM, TO);
    if (claim(port) && (await isFree(port))) return port;
  }
}

function claim(port: number): boolean {
  const file = `${FOLDER}/${port}`;
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isRunning(Number(readFileSync(file, 'utf8')))) rmSync(file, { force: true });
    return false;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
