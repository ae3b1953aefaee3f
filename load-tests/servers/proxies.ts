import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reservePort } from '@outrider/testing/port';
import { type Server, startServer } from './server.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
/** Debian installs it where only administrators have it in their path. */
export const HAPROXY = existsSync('/usr/sbin/haproxy') ? '/usr/sbin/haproxy' : 'haproxy';

/**
 * Caddy with the configuration that is shipped, for the site `localhost`.
 *
 * @param environment of that configuration: where API and notifier are
 * @returns the server, on the port of HTTPS, and where the certificate of its authority will be
 */
export async function startCaddy(folder: string, environment: Record<string, string>) {
  mkdirSync(folder, { recursive: true });
  const [httpPort, port] = [await reservePort(), await reservePort()];
  const args = ['run', '--config', join(DEPLOY, 'proxy/Caddyfile'), '--adapter', 'caddyfile'];
  const settings = { HTTP_PORT: String(httpPort), HTTPS_PORT: String(port), HOME: folder, XDG_DATA_HOME: folder };
  const server = await startServer(
    'Caddy',
    port,
    {},
    {
      command: 'caddy',
      args,
      environment: { ...settings, XDG_CONFIG_HOME: folder, ...environment },
      logPath: join(folder, 'caddy.log'),
    },
  );
  return { server, httpPort, authority: join(folder, 'caddy/pki/authorities/local/root.crt') };
}

/**
 * HAProxy with the configuration that is shipped, but for what it listens on.
 *
 * @param port on 127.0.0.1, and of the gateways
 * @param environment of that configuration: how gateways are found
 */
export async function startHaproxy(folder: string, port: number, environment: Record<string, string>): Promise<Server> {
  mkdirSync(folder, { recursive: true });
  const shipped = readFileSync(join(DEPLOY, 'terminals/haproxy.cfg'), 'utf8');
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, shipped.replace(/(?: {2}bind :\d+\n)+/, `  bind 127.0.0.1:${port}\n`));
  const command = {
    command: HAPROXY,
    args: ['-db', '-f', file],
    environment: { CHECK_PORT: String(await reservePort()), ...environment },
    logPath: join(folder, 'haproxy.log'),
  };
  return startServer('HAProxy', port, {}, command);
}

/** A server of names that knows one name, as the containers' own does. */
export async function startNames(addresses: () => readonly string[]) {
  const socket = createSocket('udp4');
  socket.on('message', (question, { address, port }) => {
    const answers = addresses();
    const end = question.indexOf(0, 12) + 5;
    const head = Buffer.from(question.subarray(0, end));
    head.writeUInt16BE(0x8180, 2);
    // The question alone, without what clients add about themselves.
    for (const [nth, count] of [1, answers.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * nth);
    const records = answers.map((each) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...each.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([head, ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}
